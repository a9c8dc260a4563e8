import { readFileSync } from "node:fs";
import { runBrandctl } from "./run.ts";
import type { Terminal } from "./terminal.ts";

const interrupted = new AbortController();
process.on("SIGINT", () => {
  // The first asks the command to stop and say what became of its work; who presses again does not want to know.
  if (interrupted.signal.aborted) process.exit(130);
  interrupted.abort();
});
process.on("SIGTERM", () => interrupted.abort());

// A reader that has seen enough, such as head, is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

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
// A read from a pipe that nobody writes to cannot be cancelled, and would keep the process from ending.
if (interrupted.signal.aborted) process.exit(code);
process.exitCode = code;
