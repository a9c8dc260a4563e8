import type { Writable } from "node:stream";
import { createColors } from "picocolors";

export type Colors = ReturnType<typeof createColors>;

export type ColorName = "bold" | "cyan" | "dim" | "green" | "red" | "yellow";

export interface Screen extends Writable {
  readonly isTTY?: boolean;
  readonly columns?: number | undefined;
}

/** Returns colours if the screen is a terminal; none with NO_COLOR or TERM=dumb. */
export function colorsFor(screen: Screen, env: NodeJS.ProcessEnv): Colors {
  return createColors(screen.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb");
}
