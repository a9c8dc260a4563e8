import type { Session } from "../session.ts";

export interface StatusLine {
  /** Whether anything is shown. */
  readonly isShown: boolean;
  /** Replaces the line. */
  show(text: string): void;
  /** Removes the line. */
  clear(): void;
}

const CLEARED = "\r\u001B[K";

/** Shows what a command is doing, in one line on standard error, if that is a terminal. */
export function openStatusLine({ terminal: { stderr, env }, json }: Session): StatusLine {
  if (stderr.isTTY !== true || json || env["TERM"] === "dumb") return { isShown: false, show: () => undefined, clear: () => undefined };
  return {
    isShown: true,
    // Cut: a line that wraps could not be replaced. A terminal that does not tell its width has 0 columns.
    show: (text) => void stderr.write(`${CLEARED}${text.slice(0, (stderr.columns || 80) - 1)}`),
    clear: () => void stderr.write(CLEARED),
  };
}
