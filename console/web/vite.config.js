import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** build.js runs it. */
export default defineConfig({
  root: import.meta.dirname,
  base: "/console/",
  plugins: [react()],
  // React has had it since version 18.
  resolve: { alias: [{ find: /^use-sync-external-store\/shim$/, replacement: "react" }] },
  css: { transformer: "lightningcss" },
  // The server puts a nonce of its own in place of this text into every page.
  html: { cspNonce: "__CSP_NONCE__" },
  build: {
    target: "es2023",
    // data: URLs of images only; everything else stays a file.
    assetsInlineLimit: 0,
    cssMinify: "lightningcss",
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    manifest: "manifest.json",
    // Few files: each costs a request, and a slow connection makes six at a time. Without groups a page has forty.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // What every page needs.
            { name: "app", tags: ["$initial"], priority: 4 },
            // What pages share: small, and most need most of it.
            {
              name: "parts",
              test: /console\/web\/src\/(api|parts\/(?!bars|usage-|modal|confirm-|secret-|unsaved-text|deliveries\/attempt-list)|shell\/error-pages)|react-router\/.*\/useBlocker|@mantine\/(hooks\/esm\/(use-(merged-ref|uncontrolled|window-event|mounted)|utils)|core\/esm\/core)\//,
              priority: 3,
            },
            // What pages with bars share.
            {
              name: "bars",
              test: /console\/contract\/dist\/(range-reads|time-ranges)|console\/web\/src\/parts\/(bars\.|usage-)/,
              priority: 2,
            },
            { name: "checkbox", test: /components\/Checkbox\//, priority: 2 },
            { name: "radio", test: /components\/Radio\//, priority: 2 },
            // Loaded once a page shows.
            {
              name: "dialog",
              test: /src\/(parts\/modal|shell\/account-panel)\.tsx?$|components\/(Modal|ModalBase|ScrollArea|Overlay)\/|hooks\/esm\/use-(focus|click)/,
              priority: 1,
            },
          ],
        },
      },
    },
  },
});
