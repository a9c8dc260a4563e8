import { repeat, withStopTimeout } from "@brand-records/lifecycle";
import { buildLateIndexes, type Database, type LateIndexesOptions } from "@brand-records/postgres";
import { Gauge, type Logger, type Registry, RepeatedWarning } from "@brand-records/telemetry";

/** Runs the background tasks of a process, so that one that no longer succeeds is noticed. */
export interface Maintenance {
  /** Runs a task once. Notes its success; logs its failure, at most every ten seconds, because the next round tries again. Never rejects. */
  run(task: string, work: () => Promise<unknown>): Promise<void>;
}

export function openMaintenance(log: Logger, registry: Registry): Maintenance {
  const succeededAt = new Gauge({
    name: "maintenance_last_success_timestamp_seconds",
    help: "When a background task last succeeded in this process, in seconds since 1970; 0 if it has not yet.",
    labelNames: ["task"],
    registers: [registry],
  });
  const known = new Map<string, RepeatedWarning>();
  return {
    async run(task, work) {
      if (!known.has(task)) succeededAt.set({ task }, 0);
      const warning = known.get(task) ?? new RepeatedWarning(log, "maintenance task failed");
      known.set(task, warning);
      try {
        await work();
        succeededAt.set({ task }, Date.now() / 1_000);
      } catch (error) {
        warning.write({ err: error, task });
      }
    },
  };
}

const EVERY_MS = 60_000;
/** A build may take minutes and may be cut off anywhere. */
const STOP_MS = 2_000;

/** Builds indexes after the start, one process at a time. */
export function startIndexBuilder(
  db: Database,
  options: LateIndexesOptions,
  maintenance: Maintenance,
  log: Logger,
): { stop(): Promise<void> } {
  const build = (): Promise<void> =>
    maintenance.run("build indexes", async () => {
      const built = await buildLateIndexes(db, options);
      if (built.length > 0) log.info({ built }, "indexes built");
    });
  return withStopTimeout(repeat(build, EVERY_MS), STOP_MS);
}
