/** How long one call deletes. Callers wait for seven times as long, so a batch that is slow does not cost its result. */
const CALL_MS = 2_000;

/** Rows of one kind that are to be deleted. */
export interface DeletionStep {
  /** Such as `deliveries`. */
  readonly kind: string;
  /** Upper bound on the rows of one transaction, so that its locks are short. */
  readonly batchRows: number;
  /** Deletes a batch. Returns the number of rows; fewer than `limit` if none is left. */
  deleteBatch(limit: number): Promise<number>;
}

export interface DeletedRows {
  readonly kind: string;
  readonly rows: number;
}

export interface Deleted {
  readonly deleted: DeletedRows[];
  /** Nothing of these kinds was left. */
  readonly done: boolean;
}

/**
 * Deletes step after step, in batches, for about two seconds. After an interruption the next call continues.
 *
 * @param turn resolves when the next one may begin after a batch. Default: at once
 */
export async function deleteInBatches(steps: readonly DeletionStep[], turn?: () => Promise<void>): Promise<Deleted> {
  const endsAt = performance.now() + CALL_MS;
  const deleted: DeletedRows[] = [];
  for (const { kind, batchRows, deleteBatch } of steps) {
    let rows = 0;
    let batch: number;
    do {
      batch = await deleteBatch(batchRows);
      rows += batch;
      if (batch > 0) await turn?.();
    } while (batch >= batchRows && performance.now() < endsAt);
    if (rows > 0) deleted.push({ kind, rows });
    if (batch >= batchRows) return { deleted, done: false };
  }
  return { deleted, done: true };
}
