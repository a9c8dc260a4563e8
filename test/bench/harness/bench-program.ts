import { writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { TIMED_OUT, withTimeout } from "@brand-records/lifecycle";
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
  // A rejection that is not awaited yet fails the run, too: what was started must be stopped.
  process.on("uncaughtException", (error) => owned.fail(error));
  let isInterrupted = false;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      isInterrupted = true;
      void owned.stop().then(() => process.exit(130));
    });
  }
  try {
    const result = await Promise.race([run(owned, log, values), owned.failed]);
    await owned.stop();
    const machine = { date: new Date().toISOString(), cores: availableParallelism(), cpu: cpus()[0]?.model, node: process.version };
    const line = `${machine.date}  ${machine.cores} cores (${machine.cpu}), Node ${machine.node}`;
    process.stdout.write(`\n${line}\n${report(result)}\n${SIZE_WARNING === undefined ? "" : `\n${SIZE_WARNING}\n`}`);
    if (typeof values.json === "string") writeFileSync(values.json, `${JSON.stringify({ size: SIZE, machine, ...result }, null, 2)}\n`);
  } catch (error) {
    // After an interrupt, errors come from stopping.
    if (isInterrupted) return;
    log(`\nThe benchmark failed: ${error instanceof Error ? error.message : String(error)}`);
    await owned.stop();
    process.exitCode = 1;
  }
  // What a failed run still waits for must not keep the process.
  process.exit();
}

export interface Stoppable {
  stop(): Promise<void> | void;
}

interface Entry {
  readonly name: string;
  end(): Promise<void>;
}

const STOP_MS_MAX = 60_000;

/** Stops what was started, newest first. What is still starting is stopped once it has started. */
export class Owned {
  readonly #entries: Entry[] = [];
  readonly #failure = Promise.withResolvers<never>();
  #stopping: Promise<void> | undefined;

  constructor() {
    this.failed.catch(() => {});
  }

  /** Rejects once the run cannot go on. */
  get failed(): Promise<never> {
    return this.#failure.promise;
  }

  /** Ends the run, whatever it waits for. Only the first reason counts. */
  fail(reason: unknown): void {
    this.#failure.reject(reason);
  }

  /** Returns `starting`, and owns its result from now on: Ctrl-C may arrive before it has started. */
  own<T>(name: string, starting: Promise<T>, ...[end]: T extends Stoppable ? [] : [end: (started: T) => Promise<void>]): Promise<T> {
    const stop = end ?? ((started: T) => (started as Stoppable).stop());
    this.#entries.push({
      name,
      end: async () => {
        const started = await starting.then(
          (value) => ({ value }),
          () => undefined,
        );
        if (started !== undefined) await stop(started.value);
      },
    });
    return starting;
  }

  /** Stops everything once; reports what cannot be stopped and continues. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  async #stopAll(): Promise<void> {
    for (let entry = this.#entries.pop(); entry !== undefined; entry = this.#entries.pop()) {
      const reason = await withTimeout(entry.end(), STOP_MS_MAX).then(
        (ended) => (ended === TIMED_OUT ? `it takes over ${STOP_MS_MAX / 1_000} s` : undefined),
        String,
      );
      if (reason !== undefined) process.stderr.write(`${entry.name} could not be stopped: ${reason}\n`);
    }
  }
}
