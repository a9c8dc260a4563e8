import type { Readable } from "node:stream";
import type { Screen } from "@brand-records/command-line";

/** What a command may use of its process: streams, environment and Ctrl-C. */
export interface Terminal {
  readonly stdin: Readable;
  readonly stdout: Screen;
  readonly stderr: Screen;
  readonly env: NodeJS.ProcessEnv;
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly interrupted: AbortSignal;
}
