import type { Database } from "@brand-records/postgres";
import { RESOURCE_NAMES, type ResourceName } from "@brand-records/resources";
import { deleteInBatches, type Deleted, type DeletionStep } from "@brand-records/service-runtime";
import { deleteOutboxOf, deleteRecordsOf, hasRowsOf } from "../storage/brand-deletion.ts";
import { isImporting } from "../storage/import-tables.ts";

/** About 45 ms. 20,000 at a time are no faster, and other brands wait for longer. */
const BATCH_ROWS = 2_000;
/** Events of the outbox that one statement looks at. */
const RANGE_ROWS = 5_000;
const SEARCH_MS = 2_000;

export interface DeletedData extends Deleted {
  /** Why nothing can be deleted at the moment. */
  readonly waiting_for?: string;
  /** Where the next call continues in the outbox; 0 after its end. */
  readonly outbox_after: number;
}

/**
 * Deletes a brand's records and then its events in the outbox after `outboxAfter`, each for about two seconds.
 *
 * @throws AppError `brand_moving`: in a cell that does not have the brand, "done" would leave its records where they are
 */
export async function deleteBrandData(db: Database, brandId: string, outboxAfter: number): Promise<DeletedData> {
  // Comes before the records: an import that ends after this look is in the next call's way.
  const importing = await db.transaction((sql) => isImporting(sql, brandId));
  const records = await deleteInBatches(RESOURCE_NAMES.map((resource) => recordsOf(db, resource, brandId)));
  if (!records.done) return { ...records, outbox_after: outboxAfter };
  const outbox = await searchOutbox(db, brandId, outboxAfter);
  const deleted = [...records.deleted, { kind: "events in the outbox", rows: outbox.rows }].filter(({ rows }) => rows > 0);
  const left = { deleted, done: false, outbox_after: outbox.after };
  if (importing) return { ...left, waiting_for: "an import into the brand" };
  if (outbox.isHeld) return { ...left, waiting_for: "transactions that hold events of the brand" };
  if (await hasRowsOf(db, brandId)) return { ...left, waiting_for: "transactions that hold records of the brand" };
  return { ...left, done: outbox.isSearched };
}

interface Searched {
  readonly rows: number;
  readonly after: number;
  /** Whether it was scanned to its end. */
  readonly isSearched: boolean;
  /** Here the search stopped: another transaction holds an event of the brand. */
  readonly isHeld: boolean;
}

/** Deletes the brand's events in the outbox, from a place in it. The search takes as long as the outbox is, so it has its own two seconds. */
async function searchOutbox(db: Database, brandId: string, from: number): Promise<Searched> {
  const endsAt = performance.now() + SEARCH_MS;
  let [rows, after] = [0, from];
  do {
    const range = await deleteOutboxOf(db, brandId, { after, limit: RANGE_ROWS });
    rows += range.rows;
    if (range.rows < range.found) return { rows, after, isSearched: false, isHeld: true };
    // The next search begins at the beginning: sequence numbers are not committed in their order.
    if (range.passed < RANGE_ROWS) return { rows, after: 0, isSearched: true, isHeld: false };
    after = range.last_seq ?? after;
  } while (performance.now() < endsAt);
  return { rows, after, isSearched: false, isHeld: false };
}

/** Continues after the last batch: from the beginning it would read the index entries of all deleted ones. */
function recordsOf(db: Database, resource: ResourceName, brandId: string): DeletionStep {
  let afterId = "";
  return {
    kind: resource,
    batchRows: BATCH_ROWS,
    async deleteBatch(limit) {
      const { rows, last_id } = await deleteRecordsOf(db, resource, brandId, { afterId, limit });
      afterId = last_id ?? afterId;
      return rows;
    },
  };
}
