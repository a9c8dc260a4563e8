import type { Screen } from "./terminal/colors.ts";
import { errorCode } from "./terminal/error-reason.ts";

/**
 * Writes text, and waits until its reader has taken it: no more than one text is in memory.
 *
 * @returns false if there is no reader any more; one that stops early, such as head, is not a failure
 * @throws the signal's reason, also while the reader takes nothing; any other error of the stream
 */
export function writeToReader(stream: Screen, text: string, signal: AbortSignal): Promise<boolean> {
  return new Promise((done, fail) => {
    const onAbort = (): void => fail(signal.reason as Error);
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    stream.write(text, (error) => {
      signal.removeEventListener("abort", onAbort);
      if (error == null || errorCode(error) === "EPIPE") done(error == null);
      else fail(error);
    });
  });
}
