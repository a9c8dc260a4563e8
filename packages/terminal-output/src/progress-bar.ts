import cliProgress from "cli-progress";
import type { Screen } from "./colors.ts";

/** Where a bar may be shown: not if the command prints JSON. */
export interface ProgressScreen {
  readonly terminal: { readonly stderr: Screen; readonly env: NodeJS.ProcessEnv };
  readonly json: boolean;
}

export interface ProgressBar {
  update(done: number, lines: number): void;
  /** Removes the bar. */
  stop(): void;
}

const LINES = { unit: "lines", atEnd: ", all sent" };
const SILENT: ProgressBar = { update: () => undefined, stop: () => undefined };

/**
 * Shows a progress bar on standard error, if that is a terminal.
 *
 * @param total what `done` of `update` counts up to; undefined where it is not known, as on standard input: then only lines are shown
 * @param texts the unit beside the bar, and the text after it at the end
 */
export function openProgressBar(
  { terminal, json }: ProgressScreen,
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
    // The command handles Ctrl-C: it must report whether anything was imported.
    gracefulExit: false,
    barCompleteChar: "█",
    barIncompleteChar: "░",
  });
  bar.start(Math.max(1, total ?? 1), 0, { lines: "0", state: "" });
  return {
    update(done, lines) {
      // What remains is the commit, which may take a while and reports no progress.
      const state = done === total ? atEnd : "";
      bar.update(total === undefined ? 0 : done, { lines: lines.toLocaleString("en"), state });
    },
    stop: () => bar.stop(),
  };
}
