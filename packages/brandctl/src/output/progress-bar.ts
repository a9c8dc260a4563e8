import cliProgress from "cli-progress";
import type { Session } from "../session.ts";

export interface ProgressBar {
  update(done: number, lines: number): void;
  /** Removes it from the screen. */
  stop(): void;
}

const LINES = { unit: "lines", atEnd: ", all sent" };
const SILENT: ProgressBar = { update: () => undefined, stop: () => undefined };

/**
 * A bar on standard error while it is a terminal, else nothing at all.
 *
 * @param unit of what stands beside the bar, and what is said at its end
 * @param total of whatever `update` counts; undefined when nobody knows, as on standard input: then lines are counted
 */
export function openProgressBar(
  { terminal, json }: Session,
  label: string,
  total: number | undefined,
  { unit, atEnd } = LINES,
): ProgressBar {
  const { stderr, env } = terminal;
  if (stderr.isTTY !== true || json || env["TERM"] === "dumb") return SILENT;
  const bar = new cliProgress.SingleBar({
    format: total === undefined ? `${label}  {lines} ${unit}` : `${label}  {bar} {percentage}%  {lines} ${unit}{state}`,
    stream: stderr,
    hideCursor: true,
    clearOnComplete: true,
    barsize: 28,
    fps: 10,
    // Ctrl-C is ours to handle: it must say what became of the import.
    gracefulExit: false,
    barCompleteChar: "█",
    barIncompleteChar: "░",
  });
  bar.start(Math.max(1, total ?? 1), 0, { lines: "0", state: "" });
  return {
    update(done, lines) {
      // What is left is one transaction, which may take its time and tells nothing.
      const state = done === total ? atEnd : "";
      bar.update(total === undefined ? 0 : done, { lines: lines.toLocaleString("en"), state });
    },
    stop: () => bar.stop(),
  };
}
