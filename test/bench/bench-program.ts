import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { Owned } from "./owned.ts";
import { SIZE, SIZE_WARNING } from "./size.ts";

export type OptionValues = Readonly<Record<string, unknown>>;

export interface Bench<Result extends object> {
  readonly usage: string;
  /** Options besides `--json` and `--help`. */
  readonly options?: ParseArgsOptionsConfig;
  /** `log` reports progress. */
  run(owned: Owned, log: (text: string) => void, options: OptionValues): Promise<Result>;
  /** Formats the result for a terminal. */
  report(result: Result): string;
}

/**
 * Runs a benchmark from its command line to its report. Progress goes to stderr, only the result to stdout. Stops whatever
 * the benchmark owns, also on Ctrl-C.
 */
export async function benchProgram<Result extends object>({ usage, options = {}, run, report }: Bench<Result>): Promise<void> {
  const { values } = parseArgs({ options: { ...options, json: { type: "string" }, help: { type: "boolean" } } });
  if (values.help === true) {
    process.stdout.write(usage);
    return;
  }
  const log = (text: string): void => void process.stderr.write(`${text}\n`);
  if (SIZE_WARNING !== undefined) log(SIZE_WARNING);
  const owned = new Owned();
  let isInterrupted = false;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      isInterrupted = true;
      void owned.stop().then(() => process.exit(130));
    });
  }
  try {
    const result = await run(owned, log, values);
    await owned.stop();
    process.stdout.write(`\n${report(result)}\n${SIZE_WARNING === undefined ? "" : `\n${SIZE_WARNING}\n`}`);
    const machine = { cpus: cpus().length, model: cpus()[0]?.model, node: process.version };
    if (typeof values.json === "string") writeFileSync(values.json, `${JSON.stringify({ size: SIZE, machine, ...result }, null, 2)}\n`);
  } catch (error) {
    // After an interrupt, errors come from stopping.
    if (isInterrupted) return;
    log(`\nThe benchmark failed: ${error instanceof Error ? error.message : String(error)}`);
    await owned.stop();
    process.exitCode = 1;
  }
}
