import { AppError } from "@brand-records/errors";
import { deleteInBatches } from "@brand-records/service-runtime";
import type { Sql } from "@brand-records/postgres";
import type { FinishBrandDeletionResponse } from "@brand-records/proto/accounts/v1";
import { newId } from "@brand-records/ids";
import type { AccountsDependencies } from "../dependencies.ts";
import { brandNotFound } from "../domain/brand.ts";
import {
  deleteAuditEntriesOf,
  deleteKeysOf,
  deleteMembersOf,
  endBrandDeletion,
  findBrandDeletion,
  forgetPeople,
  markBrandDeleted,
  type BrandDeletion,
} from "../storage/brand-deletions.ts";
import { deleteFailuresOf } from "../storage/failed-requests.ts";
import { pageOfMembers } from "../storage/members.ts";
import { lockPerson } from "../storage/people.ts";
import { deleteRequestsOf } from "../storage/recent-requests.ts";
import { deleteClientUsageOf, deleteUsageOf } from "../storage/usage.ts";
import { changeBrand } from "./brands.ts";
import { requireUnmoved } from "./move-brand.ts";

/** Deleted in one transaction: 20 ms. */
const BATCH_ROWS = 2_000;

type Dependencies = Pick<AccountsDependencies, "db" | "epochs" | "clock">;

/**
 * Begins to delete a brand. When it resolves, no member and no call but those of the deletion finds the brand, and every gateway refuses its
 * keys; those that cannot know do before the deletion has settled. Repeated, it returns the deletion as it is then.
 *
 * @param options.resume only continue a deletion that has begun
 * @throws AppError `not_found`; `request_conflict` if the brand is being moved
 */
export async function beginBrandDeletion(
  deps: Dependencies,
  brandId: string,
  { resume, requestId }: { readonly resume: boolean; readonly requestId: string },
): Promise<BrandDeletion> {
  if (!resume && (await findBrandDeletion(deps.db, brandId)) === undefined) await begin(deps, brandId, requestId);
  const deletion = await findBrandDeletion(deps.db, brandId);
  if (deletion === undefined) throw brandNotFound();
  return deletion;
}

/** Keys and members go first, so that whatever asks for them finds none, whichever release it is of. */
async function begin(deps: Dependencies, brandId: string, requestId: string): Promise<void> {
  try {
    await changeBrand(deps, brandId, async (sql) => {
      await requireUnmoved(sql, brandId);
      await deleteRightsOfBrand(sql, brandId, requestId);
    });
  } catch (error) {
    // The second of two calls at the same time finds no brand; its caller then finds the deletion.
    if (!(error instanceof AppError) || error.kind !== "not_found") throw error;
  }
}

/** Deletes keys and members, whose brand is locked, and marks the brand: it is deleted to all calls but those of the deletion. */
export async function deleteRightsOfBrand(sql: Sql, brandId: string, requestId: string): Promise<void> {
  await deleteKeysOf(sql, brandId);
  const emails = (await pageOfMembers(sql, brandId, [], null)).map(({ email }) => email).toSorted();
  // Before the members: sessions go with them, and whatever ends a person's sessions locks the person first.
  for (const email of emails) await lockPerson(sql, email);
  await deleteMembersOf(sql, brandId);
  await forgetPeople(sql, emails);
  await markBrandDeleted(sql, brandId, newId("aud"), requestId);
}

/**
 * Deletes what is left of a brand, for about two seconds. Afterwards only the entry of the audit log names the brand.
 *
 * @throws AppError `request_conflict` before the deletion has begun and settled
 */
export async function finishBrandDeletion({ db, epochs }: Dependencies, brandId: string): Promise<FinishBrandDeletionResponse> {
  const deletion = await findBrandDeletion(db, brandId);
  if (deletion === undefined) throw new AppError("request_conflict", "The deletion of this brand has not begun", { field: "brand_id" });
  if (deletion.settles_in_ms > 0) {
    throw new AppError("request_conflict", "Requests from before the deletion may still be in progress", {
      field: "brand_id",
      retryAfterSeconds: Math.ceil(deletion.settles_in_ms / 1_000),
    });
  }
  const { deleted, done } = await deleteInBatches([
    { kind: "usage", batchRows: BATCH_ROWS, deleteBatch: (limit) => deleteUsageOf(db, brandId, limit) },
    { kind: "usage by client", batchRows: BATCH_ROWS, deleteBatch: (limit) => deleteClientUsageOf(db, brandId, limit) },
    { kind: "failed requests", batchRows: BATCH_ROWS, deleteBatch: (limit) => deleteFailuresOf(db, brandId, limit) },
    { kind: "recent requests", batchRows: BATCH_ROWS, deleteBatch: (limit) => deleteRequestsOf(db, brandId, limit) },
    { kind: "audit entries", batchRows: BATCH_ROWS, deleteBatch: (limit) => deleteAuditEntriesOf(db, brandId, limit) },
  ]);
  if (!done) return { deleted, done, redis_unavailable: false };
  const isForgotten = await epochs.forget(brandId);
  await db.transaction((sql) => endBrandDeletion(sql, brandId));
  return { deleted, done, redis_unavailable: !isForgotten };
}
