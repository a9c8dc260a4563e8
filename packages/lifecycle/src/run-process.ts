import { Lifecycle, type LifecycleLog } from "./lifecycle.ts";

/** The whole stop fits into this, the balancer's grace included; then the process ends anyway, with exit code 1. */
const STOP_DEADLINE_MS = 25_000;

/** sysexits.h: the settings are wrong, starting again will not help. */
const EX_CONFIG = 78;

export interface ProcessOptions {
  readonly log: LifecycleLog;
  readonly stopGraceMs: number;
  /** Starts everything and hands it to the lifecycle. What it answers is told to the parent process, if there is one. */
  start(life: Lifecycle): Promise<object>;
}

/**
 * A process from start to exit: starts, tells a forking parent `{ready: …}`, stops on SIGTERM, SIGINT or when the parent
 * is gone, and exits 0 after a clean stop. A second signal exits at once. A failed start stops what had started, exits 1; 78
 * if a ConfigError says why, whose message is then what a person reads, without a stack.
 */
export async function runProcess({ log, stopGraceMs, start }: ProcessOptions): Promise<void> {
  const life = new Lifecycle(log);
  let signals = 0;

  const stop = async (reason: string, exitCode: number, graceMs: number): Promise<void> => {
    log.info({ reason }, "stopping");
    setTimeout(() => process.exit(1), STOP_DEADLINE_MS).unref();
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
  // The launcher's death by SIGKILL closes this channel: nobody would ever stop us otherwise.
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
    if (isConfigError(error)) {
      process.stderr.write(`${error.message}\n`);
      return stop("the settings do not fit", EX_CONFIG, 0);
    }
    log.error({ err: error }, "could not start");
    await stop("could not start", 1, 0);
  }
}

/** By name: whoever only starts and stops things should not need what reads settings. */
const isConfigError = (error: unknown): error is Error => error instanceof Error && error.name === "ConfigError";
