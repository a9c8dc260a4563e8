import { buildLateIndexes, openPool, type LateIndex } from "@brand-records/postgres";
import { importBuilt } from "./built.ts";

const BUILD_MS_MAX = 3_600_000;

/** Builds the indexes that records builds after its start: a build would disturb what is measured. */
export async function buildRecordsIndexes(url: string): Promise<void> {
  const { LATE_INDEXES: indexes } = await importBuilt<{ LATE_INDEXES: readonly LateIndex[] }>(
    "services/records/dist/storage/late-indexes.js",
  );
  const db = openPool({ url, applicationName: "bench indexes", max: 1, statementTimeoutMs: BUILD_MS_MAX });
  try {
    await buildLateIndexes(db, { url, schema: "records", indexes });
  } finally {
    await db.stop();
  }
}
