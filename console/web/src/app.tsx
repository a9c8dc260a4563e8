import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { StatusRegion } from "./parts/status-region.tsx";
import { appRouter, queryClient } from "./router.tsx";
import { cssVariables, theme } from "./theme.ts";

export function App({ nonce }: { readonly nonce: string }) {
  return (
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto" getStyleNonce={() => nonce}>
        <QueryClientProvider client={queryClient}>
          <StatusRegion />
          <RouterProvider router={appRouter()} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>
  );
}
