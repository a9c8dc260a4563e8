import { readFileSync } from "node:fs";
import { runBrandctl } from "./run.ts";
import type { Terminal } from "./terminal.ts";

const interrupted = new AbortController();
process.on("SIGINT", () => {
  // The first stops the command, which then reports how far it got; the second ends the process.
  if (interrupted.signal.aborted) process.exit(130);
  interrupted.abort();
});
process.on("SIGTERM", () => interrupted.abort());

// A reader that stops early, such as head, is not a failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

// By default, traces are exported again for ten seconds if their store is away, which would keep the command running.
process.env["OTEL_EXPORTER_OTLP_TIMEOUT"] ??= "1500";

const terminal: Terminal = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  interrupted: interrupted.signal,
};
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
const code = await runBrandctl(process.argv.slice(2), terminal, version);
// A read from a silent pipe cannot be cancelled and would keep the process alive.
if (interrupted.signal.aborted) process.exit(code);
process.exitCode = code;
