import type { Database } from "@brand-records/postgres";
import { auditEntriesOf, deleteInBatches, type Deleted, type DeletionStep } from "@brand-records/service-runtime";
import { deleteHoursOf } from "../storage/attempt-hours.ts";
import {
  BEFORE_ALL_EVENTS,
  countDeliveriesOf,
  deleteEventsOf,
  deleteReceiversAndBrand,
  disableReceiversOf,
  dropDeliveriesOf,
  markClosed,
  receiverIdsOf,
  removeInFlightOf,
} from "../storage/brand-deletion.ts";
import { holdLanesOfBrand, lockLanesOfBrand } from "../storage/lanes.ts";
import type { ChunkOptions } from "../storage/pending-deliveries.ts";
import { endReplaysOf } from "../storage/replays.ts";
import { pageOfBrandIds } from "../storage/brands.ts";

/** An event goes with its deliveries and attempts: some thousand rows, 100 ms. */
const BATCH_EVENTS = 500;
const BATCH_ROWS = 5_000;

export interface DeletedData extends Deleted {
  /** Why nothing can be deleted at the moment. */
  readonly waiting_for?: string;
}

/**
 * Deletes what this service keeps of a brand, for about two seconds. The first call closes the brand: nothing is sent to its receivers
 * from then on, none of its events is stored, and no result of an attempt is recorded. The receivers go last, because their ids lead
 * to everything else.
 */
export async function deleteBrandData(db: Database, brandId: string, turn?: ChunkOptions["turn"]): Promise<DeletedData> {
  await close(db, brandId);
  const receiverIds = await receiverIdsOf(db, brandId);
  const steps = [
    ...ofEach(receiverIds, "deliveries", (id, limit) => dropDeliveriesOf(db, id, limit)),
    eventsOf(db, brandId),
    ...ofEach(receiverIds, "hours of attempts", (id, limit) => deleteHoursOf(db, id, limit)),
    auditEntriesOf(db, "webhook", brandId),
  ];
  const { deleted, done } = await deleteInBatches(steps, turn);
  if (!done) return { deleted, done };
  const { receivers, sending } = await deleteReceivers(db, brandId);
  if (receivers !== undefined)
    return { deleted: [...deleted, { kind: "receivers", rows: receivers }].filter(({ rows }) => rows > 0), done };
  return { deleted, done: false, ...(sending > 0 && { waiting_for: `attempts in flight (${sending})` }) };
}

/** Attempts in flight end by themselves: their results are discarded. */
function close(db: Database, brandId: string): Promise<void> {
  return db.transaction(async (sql) => {
    await lockLanesOfBrand(sql, brandId);
    await markClosed(sql, brandId);
    await holdLanesOfBrand(sql, brandId);
    await disableReceiversOf(sql, brandId);
    await endReplaysOf(sql, brandId);
  });
}

const ofEach = (
  receiverIds: readonly string[],
  kind: string,
  deleteBatch: (receiverId: string, limit: number) => Promise<number>,
): DeletionStep[] => receiverIds.map((id) => ({ kind, batchRows: BATCH_ROWS, deleteBatch: (limit) => deleteBatch(id, limit) }));

/** Continues after the last batch: from the beginning it would read the index entries of all deleted ones. */
function eventsOf(db: Database, brandId: string): DeletionStep {
  let after = BEFORE_ALL_EVENTS;
  return {
    kind: "events",
    batchRows: BATCH_EVENTS,
    async deleteBatch(limit) {
      const events = await db.transaction((sql) => deleteEventsOf(sql, brandId, after, limit));
      after = events.at(-1) ?? after;
      return events.length;
    },
  };
}

/** Deletes the receivers and the brand, unless a delivery is left. */
function deleteReceivers(db: Database, brandId: string): Promise<{ readonly receivers: number | undefined; readonly sending: number }> {
  return db.transaction(async (sql) => {
    const receiverIds = await lockLanesOfBrand(sql, brandId);
    const { all, sending } = await countDeliveriesOf(sql, receiverIds);
    return { receivers: all === 0 ? await deleteReceiversAndBrand(sql, brandId) : undefined, sending };
  });
}

/** As many as accounts looks up with one call. */
const PAGE_BRANDS = 1_000;

/** Returns the brands of this database that were deleted since, as `deletedAmong` says. */
export async function brandsDeletedSince(
  db: Database,
  deletedAmong: (brandIds: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<string[]> {
  const deleted: string[] = [];
  for (let afterId = ""; ;) {
    const page = await pageOfBrandIds(db, afterId, PAGE_BRANDS);
    const last = page.at(-1);
    if (last === undefined) return deleted;
    deleted.push(...(await deletedAmong(page)));
    afterId = last;
  }
}

/** Deletes what a restored database has of a brand that was deleted since. No process of the service may run. Returns how many rows. */
export async function repeatDeletion(db: Database, brandId: string): Promise<number> {
  let rows = 0;
  for (;;) {
    const { deleted, done, waiting_for } = await deleteBrandData(db, brandId);
    rows += deleted.reduce((sum, each) => sum + each.rows, 0);
    if (done) return rows;
    if (waiting_for !== undefined) rows += await removeInFlight(db, brandId);
  }
}

/** The process that made these attempts has not outlived the backup. */
function removeInFlight(db: Database, brandId: string): Promise<number> {
  return db.transaction(async (sql) => removeInFlightOf(sql, await lockLanesOfBrand(sql, brandId)));
}
