import { repeat, withStopTimeout } from "@brand-records/lifecycle";
import { buildLateIndexes, type Database, type LateIndexesOptions } from "@brand-records/postgres";
import type { Logger } from "@brand-records/telemetry";
import type { Maintenance } from "./maintenance.ts";

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
