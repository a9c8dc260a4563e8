import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode, useEffect, useLayoutEffect } from "react";
import { endFirstReads } from "./api/first-reads.ts";
import { StatusRegion } from "./parts/status-region.tsx";
import { queryClient, router } from "./router.tsx";
import { cssVariables, theme } from "./theme.ts";

export function App({ nonce }: { readonly nonce: string }) {
  // Before the page is painted, which stands where the frame of the HTML has stood.
  useLayoutEffect(() => document.querySelector(".first")?.remove(), []);
  // Runs after the effects of the screen, which decide what it reads.
  useEffect(() => endFirstReads(queryClient), []);
  return (
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto" getStyleNonce={() => nonce}>
        <QueryClientProvider client={queryClient}>
          <StatusRegion />
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>
  );
}
