#!/usr/bin/env node
// Plain JavaScript and checked in, so that npm can link it before anything is built.
const main = new URL("../dist/bundle/main.js", import.meta.url);
try {
  await import(main.href);
} catch (error) {
  if (error?.code !== "ERR_MODULE_NOT_FOUND" || error.url !== main.href) throw error;
  process.stderr.write("brand-records is not built yet. Run in the repository:\n\n  npm ci && npm run build\n\n");
  process.exitCode = 1;
}
