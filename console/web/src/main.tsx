import "./mantine.css";
import "./tokens.css";
import "./styles.css";
import { notifyManager, QueryClientProvider } from "@tanstack/react-query";
import { startTransition, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { MantineProvider } from "@mantine/core";
import { RouterProvider } from "@tanstack/react-router";
import { betweenPresses } from "./api/between-presses.ts";
import { takeFirstReads } from "./api/first-reads.ts";
import { useNoReadingWhileIdle } from "./api/queries.ts";
import { keepFocus } from "./api/kept-focus.ts";
import { queryClient, appRouter } from "./router.tsx";
import { cssVariables, theme } from "./theme.ts";
import { StatusRegion } from "./parts/states.tsx";

function App({ nonce }: { readonly nonce: string }) {
  useNoReadingWhileIdle();
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

const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";
// react-remove-scroll, which Mantine's dialogs use, takes the nonce of its style elements from here.
Object.assign(globalThis, { __webpack_nonce__: nonce });

notifyManager.setScheduler(betweenPresses(window));
keepFocus();
takeFirstReads(queryClient);

const root = document.getElementById("root");
if (root === null) throw new Error("the page has no element #root");
// In pieces; Shell defers the rest.
startTransition(() => createRoot(root).render(<App nonce={nonce} />));
