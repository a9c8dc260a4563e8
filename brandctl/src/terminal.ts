import type { Readable } from "node:stream";
import { createInterface } from "node:readline";
import type { Screen } from "@brand-records/command-line";

export { colorsFor, type Colors, type Screen } from "@brand-records/command-line";

/** What a command may use of its process: streams, environment, folder and Ctrl-C. */
export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Screen;
  readonly stderr: Screen;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Aborted by Ctrl-C. */
  readonly interrupted: AbortSignal;
}

/**
 * Asks for a text at a terminal.
 *
 * @param question with what follows it: `Its name: `
 * @returns the line without blanks at its ends; empty at the end of the input (Ctrl-D); undefined at Ctrl-C
 */
export function askText({ stdin, stderr, interrupted }: Terminal, question: string): Promise<string | undefined> {
  const lines = createInterface({ input: stdin, output: stderr, signal: interrupted });
  return new Promise((resolve) => {
    const end = (reply: string | undefined): void => {
      lines.removeAllListeners("close").close();
      resolve(reply);
    };
    const endUnanswered = (reply: string | undefined): void => {
      stderr.write("\n");
      end(reply);
    };
    // While it reads a line, a terminal passes Ctrl-C on as a character: the process gets no signal.
    lines.once("SIGINT", () => endUnanswered(undefined));
    lines.once("close", () => endUnanswered(interrupted.aborted ? undefined : ""));
    lines.question(question, (reply) => end(reply.trim()));
  });
}
