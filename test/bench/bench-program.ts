import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { Owned } from "./owned.ts";
import { SIZE, SIZE_WARNING } from "./size.ts";

export interface Bench<Result extends object> {
  readonly usage: string;
  /** Progress goes to stderr, the result alone to stdout. */
  run(owned: Owned, say: (text: string) => void): Promise<Result>;
  /** For people. */
  report(result: Result): string;
}

/** A benchmark from its command line to its report: `--json FILE` and `--help`; whatever it owns is stopped, also by Ctrl-C. */
export async function benchProgram<Result extends object>({ usage, run, report }: Bench<Result>): Promise<void> {
  const { values: options } = parseArgs({ options: { json: { type: "string" }, help: { type: "boolean" } } });
  if (options.help) {
    process.stdout.write(usage);
    return;
  }
  const say = (text: string): void => void process.stderr.write(`${text}\n`);
  if (SIZE_WARNING !== undefined) say(SIZE_WARNING);
  const owned = new Owned();
  let interrupted = false;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      interrupted = true;
      void owned.stop().then(() => process.exit(130));
    });
  }
  try {
    const result = await run(owned, say);
    await owned.stop();
    process.stdout.write(`\n${report(result)}\n${SIZE_WARNING === undefined ? "" : `\n${SIZE_WARNING}\n`}`);
    const machine = { cpus: cpus().length, model: cpus()[0]?.model, node: process.version };
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify({ size: SIZE, machine, ...result }, null, 2)}\n`);
  } catch (error) {
    // Interrupted: what breaks then is what we are stopping.
    if (interrupted) return;
    say(`\nThe benchmark failed: ${error instanceof Error ? error.message : String(error)}`);
    await owned.stop();
    process.exitCode = 1;
  }
}
