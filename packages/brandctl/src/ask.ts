import { createInterface } from "node:readline";
import type { Terminal } from "./terminal.ts";

export type Answer = "yes" | "no" | "interrupted";

/**
 * Asks at a terminal.
 *
 * @param question such as `Delete it?`
 * @returns "no" for anything but yes, and at the end of the input (Ctrl-D)
 */
export function ask({ stdin, stderr, interrupted }: Terminal, question: string): Promise<Answer> {
  const lines = createInterface({ input: stdin, output: stderr, signal: interrupted });
  return new Promise<Answer>((resolve) => {
    const end = (answer: Answer): void => {
      lines.removeAllListeners("close").close();
      resolve(answer);
    };
    const endUnanswered = (answer: Answer): void => {
      stderr.write("\n");
      end(answer);
    };
    // While it reads a line, a terminal passes Ctrl-C on as a character: the process gets no signal.
    lines.once("SIGINT", () => endUnanswered("interrupted"));
    lines.once("close", () => endUnanswered(interrupted.aborted ? "interrupted" : "no"));
    lines.question(`${question} [y/N] `, (reply) => end(/^y(es)?$/i.test(reply.trim()) ? "yes" : "no"));
  });
}
