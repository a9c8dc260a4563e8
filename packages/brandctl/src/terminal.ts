import type { Readable, Writable } from "node:stream";

export interface Screen extends Writable {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** All that a command sees of the world around it. */
export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Screen;
  readonly stderr: Screen;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Aborted by Ctrl-C. */
  readonly interrupted: AbortSignal;
}
