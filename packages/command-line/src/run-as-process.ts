import { errorReason } from "./terminal/error-reason.ts";

/** Time for what is still open to end by itself. */
const EXIT_MS = 1_000;

/**
 * Runs a command line as this process, and sets its exit code.
 *
 * @param run its signal is aborted by Ctrl-C and SIGTERM. Returns the exit code
 */
export async function runAsProcess(run: (interrupted: AbortSignal) => Promise<number>): Promise<void> {
  const interrupted = new AbortController();
  process.on("SIGINT", () => {
    // The first stops the command, which then reports how far it got; the second ends the process.
    if (interrupted.signal.aborted) process.exit(130);
    interrupted.abort();
  });
  process.on("SIGTERM", () => interrupted.abort());
  // A reader that stops early, such as head, is not a failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") return;
    // At once: whatever the command does next, its result cannot be written.
    process.stderr.write(`error: standard output cannot be written: ${errorReason(error)}.\n`);
    process.exit(1);
  });
  // Remarks without a reader, as after a closed terminal, must not end the command.
  process.stderr.on("error", () => {});
  const code = await run(interrupted.signal);
  // A read from a silent pipe cannot be cancelled and would keep the process alive.
  if (interrupted.signal.aborted) process.exit(code);
  process.exitCode = code;
  // grpc-js goes on with a connection that a firewall swallows for two minutes, also after its channel is closed.
  setTimeout(() => process.stdout.write("", () => process.exit()), EXIT_MS).unref();
}
