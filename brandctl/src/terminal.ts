import type { Readable } from "node:stream";
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
