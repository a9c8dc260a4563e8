import { setFlagsFromString } from "node:v8";
import { Lifecycle, type LifecycleLog } from "./lifecycle.ts";

/** Time for a stop after its grace period. After it the process exits with code 1. A balancer may ask for a grace of a minute. */
const STOP_DEADLINE_MS = 20_000;

/** sysexits.h: a person must act, such as on wrong settings or a database of another release. Starting again does not help. */
export const EX_CONFIG = 78;

/** Tells people why a program cannot start, without a stack, and ends it. Standard error is synchronous here: nothing of the text is lost. */
export function refuseToStart(reason: string): never {
  process.stderr.write(`${reason}\n`);
  process.exit(EX_CONFIG);
}

/**
 * Lets the heap grow to twice of what lives before V8 collects what is old, instead of four times: a gateway under load takes 50 MiB less, for
 * 1 % of its CPU (docs/benchmarks.md). NODE_OPTIONS does not allow the flag.
 */
const HEAP_GROWTH = "--heap-growing-percent=100";

export interface ProcessOptions {
  readonly log: LifecycleLog;
  readonly stopGraceMs: number;
  /** Starts everything under the lifecycle. The result is sent to the parent process, if there is one. */
  start(life: Lifecycle): Promise<object>;
}

/**
 * Runs a process from start to exit: starts it, sends `{ready: …}` to a forking parent, stops on SIGTERM, SIGINT or when the parent is
 * gone, and exits with 0 after a clean stop. A second signal exits immediately. A failed start stops everything already started and
 * exits with 1. If only a person can fix the reason, it prints the message without a stack and exits with 78.
 */
export async function runProcess({ log, stopGraceMs, start }: ProcessOptions): Promise<void> {
  setFlagsFromString(HEAP_GROWTH);
  const life = new Lifecycle(log);
  let signals = 0;

  const stop = async (reason: string, exitCode: number, graceMs: number): Promise<void> => {
    log.info({ reason }, "stopping");
    setTimeout(() => process.exit(1), graceMs + STOP_DEADLINE_MS).unref();
    const clean = await life.stop(graceMs);
    process.exit(clean ? exitCode : 1);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      signals += 1;
      if (signals > 1) process.exit(130);
      void stop(signal, 0, stopGraceMs);
    });
  }
  // A SIGKILL of the launcher closes this channel. Without this handler the process would run on.
  if (process.connected) process.on("disconnect", () => void stop("parent is gone", 0, 0));
  process.on("unhandledRejection", (error) => {
    log.error({ err: error }, "unhandled rejection");
    void stop("unhandled rejection", 1, 0);
  });

  try {
    const ready = await start(life);
    life.markReady();
    log.info(ready, "ready");
    process.send?.({ ready });
  } catch (error) {
    await stop("could not start", reportFailure(error, log, "could not start"), 0);
  }
}

/** Prints the message without a stack if only a person can fix the reason, else logs the error. Returns the exit code: 78 or 1. */
export function reportFailure(error: unknown, log: LifecycleLog, what: string): number {
  if (needsPerson(error)) {
    process.stderr.write(`${error.message}\n`);
    return EX_CONFIG;
  }
  log.error({ err: error }, what);
  return 1;
}

/** Errors that a restart repeats. By name, so that this package does not depend on those that throw them. */
const NEED_PERSON: ReadonlySet<string> = new Set(["ConfigError", "SchemaMismatchError"]);

const needsPerson = (error: unknown): error is Error => error instanceof Error && NEED_PERSON.has(error.name);
