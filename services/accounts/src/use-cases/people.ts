import type { Database, Sql } from "@brand-records/postgres";
import type { ExportPersonResponse } from "@brand-records/proto/accounts/v1";
import type { PlannedEntry } from "@brand-records/rpc";
import { pageToken, positionIn } from "../domain/page-token.ts";
import { EXPORT_SECTIONS, newPseudonym, noErasure, notSettled, stillAMember } from "../domain/person.ts";
import {
  beginErasure as rememberPseudonym,
  endErasure,
  eraseFromAuditEntries,
  eraseFromKeys,
  type Erasure,
  findErasure,
  lockBrandsNaming,
} from "../storage/erasures.ts";
import { deleteIdentitiesOf } from "../storage/identities.ts";
import { membershipsOf } from "../storage/members.ts";
import { lockPerson, pageOfPersonRecords } from "../storage/people.ts";
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
export async function erasePerson(db: Database, email: string, brandIds: readonly string[], entry: PlannedEntry): Promise<string[]> {
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
    await recordForBrands(sql, brands, { ...entry, subject_id: pseudonym });
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

/** Where an export continues: at a section's beginning, or after the time and id of a record of it. */
const POSITION = new RegExp(`^(${EXPORT_SECTIONS.join("|")})(?: (\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z) (\\S+))?$`);

/**
 * Returns a page of what is kept about a person: records of one section. Complete, whatever is written meanwhile: what is there at the
 * beginning and remains is in one of the pages.
 *
 * @throws AppError `invalid_cursor`
 */
export async function exportPerson(sql: Sql, email: string, limit: number, token: string | null): Promise<ExportPersonResponse> {
  const scope = ["person", email];
  const [name, ...after] = positionIn(scope, token, POSITION, "person");
  const section = EXPORT_SECTIONS.find((one) => one === name) ?? EXPORT_SECTIONS[0];
  const found = await pageOfPersonRecords(sql, email, section, after, limit);
  // A full page: the section may have more.
  const last = found.length === limit ? found.at(-1) : undefined;
  const following = EXPORT_SECTIONS[EXPORT_SECTIONS.indexOf(section) + 1];
  const next = last === undefined ? following && [following] : [section, last.createdAt, last.id];
  return {
    ...emptyPage(),
    [section]: found.map(({ record }) => record),
    next_page_token: next === undefined ? null : pageToken(scope, next),
  };
}

const emptyPage = (): Omit<ExportPersonResponse, "next_page_token"> => ({
  memberships: [],
  sessions: [],
  sign_in_links: [],
  identities: [],
  keys: [],
  audit_entries: [],
  erasures: [],
});
