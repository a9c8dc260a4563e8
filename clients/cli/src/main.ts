import { readFileSync } from "node:fs";
import { runCli } from "./run.ts";

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

// Bundled into dist/bundle.
const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };
const { stdin, stdout, stderr, env } = process;
const code = await runCli(process.argv.slice(2), { stdin, stdout, stderr, env, interrupted: interrupted.signal }, version);
// A read from a silent pipe cannot be cancelled and would keep the process alive.
if (interrupted.signal.aborted) process.exit(code);
process.exitCode = code;
