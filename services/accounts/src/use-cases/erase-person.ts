import type { Database, Sql } from "@brand-records/postgres";
import { newPseudonym, noErasure, notSettled, stillAMember } from "../domain/erasure.ts";
import {
  beginErasure as rememberPseudonym,
  endErasure,
  eraseFromAuditEntries,
  eraseFromKeys,
  findErasure,
  lockBrandsNaming,
  type Erasure,
} from "../storage/erasures.ts";
import { deleteIdentitiesOf } from "../storage/identities.ts";
import { membershipsOf } from "../storage/members.ts";
import { lockPerson } from "../storage/people.ts";
import { deleteSessionsOf } from "../storage/sessions.ts";
import { deleteLinksOf } from "../storage/sign-in-links.ts";
import { recordForBrands } from "./audit.ts";

/** Entries changed by one transaction. */
const BATCH_ENTRIES = 1_000;

/**
 * Returns the pseudonym that takes the place of a person's address. The same until `erasePerson` is done, so that every service gets one,
 * however often the erasure is interrupted and begun again. It ends as well when the person is added to a brand: what is erased later is
 * another stay's, and has another pseudonym.
 *
 * @throws AppError `still_a_member`
 */
export function beginErasure(db: Database, email: string): Promise<Erasure> {
  return db.transaction(async (sql) => {
    await lockFormerMember(sql, email);
    return rememberPseudonym(sql, email, newPseudonym());
  });
}

/**
 * Erases a person from accounts, and ends the erasure. Can be repeated until it is done: then it has forgotten the pseudonym.
 *
 * @param brandIds of what other services erased
 * @returns the brands whose audit log has an entry about it
 * @throws AppError `still_a_member`; `not_found` if no erasure has begun; `request_conflict` before it has settled
 */
export async function erasePerson(db: Database, email: string, brandIds: readonly string[], requestId: string): Promise<string[]> {
  const { pseudonym, settles_in_ms } = await requireErasure(db, email);
  if (settles_in_ms > 0) throw notSettled(settles_in_ms);
  while ((await eraseBatch(db, email, pseudonym)) === BATCH_ENTRIES);
  return db.transaction(async (sql) => {
    const brands = await lockBrandsNaming(sql, email, pseudonym, brandIds);
    await lockErasure(sql, email, pseudonym);
    // What was written since the batches.
    await eraseFromAuditEntries(sql, email, pseudonym, BATCH_ENTRIES);
    await deleteSessionsOf(sql, email);
    await deleteLinksOf(sql, email);
    await deleteIdentitiesOf(sql, email);
    await eraseFromKeys(sql, email, pseudonym);
    await recordForBrands(sql, brands, { action: "person.erase", subject: pseudonym, requestId });
    await endErasure(sql, email);
    return brands.map(({ brand_id }) => brand_id);
  });
}

/** Returns how many entries were changed. What a person does who is a member again is of another stay. */
function eraseBatch(db: Database, email: string, pseudonym: string): Promise<number> {
  return db.transaction(async (sql) => {
    await lockErasure(sql, email, pseudonym);
    return eraseFromAuditEntries(sql, email, pseudonym, BATCH_ENTRIES);
  });
}

/** Locks the person, whose erasure must be under way: another process may have ended it meanwhile, and begun another. */
async function lockErasure(sql: Sql, email: string, pseudonym: string): Promise<void> {
  await lockFormerMember(sql, email);
  if ((await requireErasure(sql, email)).pseudonym !== pseudonym) throw noErasure();
}

async function requireErasure(sql: Sql, email: string): Promise<Erasure> {
  const erasure = await findErasure(sql, email);
  if (erasure !== undefined) return erasure;
  throw (await membershipsOf(sql, email)).length > 0 ? stillAMember() : noErasure();
}

/** Locks the person against becoming a member, against signing in and against another erasure. */
async function lockFormerMember(sql: Sql, email: string): Promise<void> {
  await lockPerson(sql, email);
  if ((await membershipsOf(sql, email)).length > 0) throw stillAMember();
}
