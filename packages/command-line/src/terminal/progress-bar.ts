import cliProgress from "cli-progress";
import type { Screen } from "./colors.ts";

/** Where a bar may be shown: not if the command prints JSON. */
export interface ProgressScreen {
  readonly terminal: { readonly stderr: Screen; readonly env: NodeJS.ProcessEnv };
  readonly json: boolean;
  /** The bar that is shown. */
  bar?: ProgressBar | undefined;
}

export interface ProgressBar {
  update(done: number, lines: number): void;
  /** Writes a line, and shows the bar below it. */
  below(writeLine: () => void): void;
  /** Removes the bar. */
  stop(): void;
}

const LINES = { unit: "lines", atEnd: ", all sent" };
const SILENT: ProgressBar = { update: () => undefined, below: (writeLine) => writeLine(), stop: () => undefined };

/**
 * Shows a progress bar on standard error, if that is a terminal.
 *
 * @param total what `done` of `update` counts up to; undefined where it is not known, as on standard input: then only lines are shown
 * @param texts the unit beside the bar, and the text after it at the end
 */
export function openProgressBar(screen: ProgressScreen, label: string, total: number | undefined, { unit, atEnd } = LINES): ProgressBar {
  const { stderr, env } = screen.terminal;
  if (stderr.isTTY !== true || screen.json || env["TERM"] === "dumb") return SILENT;
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
  let [value, payload] = [0, { lines: "0", state: "" }];
  const start = (): void => bar.start(Math.max(1, total ?? 1), value, payload);
  start();
  screen.bar = {
    update(done, lines) {
      value = total === undefined ? 0 : done;
      // What remains is the commit, which may take a while and reports no progress.
      payload = { lines: lines.toLocaleString("en"), state: done === total ? atEnd : "" };
      bar.update(value, payload);
    },
    below(writeLine) {
      bar.stop();
      writeLine();
      start();
    },
    stop() {
      bar.stop();
      screen.bar = undefined;
    },
  };
  return screen.bar;
}
