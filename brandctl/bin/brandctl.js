#!/usr/bin/env node
// Plain JavaScript and checked in, so that npm can link it before anything is built.
import { fileURLToPath } from "node:url";

const main = new URL("../dist/main.js", import.meta.url);
try {
  await import(main.href);
} catch (error) {
  if (error?.code !== "ERR_MODULE_NOT_FOUND") throw error;
  const root = fileURLToPath(new URL("../..", import.meta.url));
  process.stderr.write(`brandctl is not built yet. Run in ${root}:\n\n  npm ci && npm run build\n\n`);
  process.exitCode = 1;
}
