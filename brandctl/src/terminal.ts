import type { Readable, Writable } from "node:stream";
import { createColors } from "picocolors";

export type Colors = ReturnType<typeof createColors>;

export interface Screen extends Writable {
  readonly isTTY?: boolean;
  readonly columns?: number | undefined;
}

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

/** Returns colours if the screen is a terminal; none with NO_COLOR or TERM=dumb. */
export function colorsFor(screen: Screen, env: NodeJS.ProcessEnv): Colors {
  return createColors(screen.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb");
}
