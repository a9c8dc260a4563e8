import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** build.js runs it. */
export default defineConfig({
  root: import.meta.dirname,
  base: "/console/",
  plugins: [react()],
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
  },
});
