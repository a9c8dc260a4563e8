import type { Database } from "@brand-records/postgres";
import { newId } from "@brand-records/ids";
import { believeClaims, claimed } from "../../test/claimed-identity.ts";
import { lockPerson } from "../storage/people.ts";
import { expectRefusal, servedAccounts, settled, type TestBrand, untilWaiting } from "../../test/serve-accounts.ts";
import { peopleOf } from "../../test/people.ts";
import { record } from "../../test/recorded-entry.ts";

/** One promise: an operator can hand out all that is kept about a person, and erase it. */

const served = servedAccounts(() => ({ identify: believeClaims }));
const people = peopleOf(served);

const { exported } = people;
const begin = async (email: string) => (await served.operator.beginErasure({ email })).pseudonym;
const erase = (email: string, brand_ids: string[] = []) => served.operator.erasePerson({ email, brand_ids });
/** Moves the beginning back, so that whatever began before has ended. */
const settle = (email: string) =>
  served.db.query("update accounts.erasures set begun_at = begun_at - interval '35 s' where email = $1", [email]);

/** Every row of accounts, as text. */
async function everything(): Promise<string> {
  const tables = ["members", "sessions", "sign_in_links", "identities", "keys", "audit_entries", "erasures"];
  const rows = await Promise.all(tables.map((table) => served.db.query(`select t.*::text from accounts.${table} t`)));
  return JSON.stringify(rows);
}

const entry = (brand: TestBrand, actor: string | null, subject_id: string | null, address: string | null = "203.0.113.7") =>
  record(served, brand, { actor, action: "receiver.test", subject_id, fields: ["type"], address });

/** sign-in-audit.test.ts has these. */
const ofSession = (action: string): boolean => action.startsWith("session.");

/** A member of a brand, who has done and met everything that accounts keeps. */
async function activePerson() {
  const { brand, email } = await people.newPerson();
  await people.addMember(brand, email, "owner");
  const issuer = "https://id.example";
  await served.signIn.signInWithIdentity(claimed({ issuer, subject: email, email }));
  await people.session(email);
  await people.open(await people.ownersLink(brand, brand.owner, email));
  const ours = await served.createKey({ id: brand.id, owner: email }, { name: "Ours" });
  await served.accounts.revokeKey({ key_id: ours.id, revoked_by: brand.owner });
  const theirs = await served.createKey(brand);
  await served.accounts.revokeKey({ key_id: theirs.id, revoked_by: email });
  await entry(brand, email, brand.owner);
  await entry(brand, brand.owner, email, "198.51.100.9");
  return { brand, email };
}

it("exports each kind of record, and nothing about another person", async () => {
  const { brand, email } = await activePerson();
  const all = await exported(email.toUpperCase(), 2);
  expect(all).toMatchObject({
    memberships: [{ brand_id: brand.id, brand_name: "Tindahan", role: "owner" }],
    sessions: [
      { of_person: true, issuer: "https://id.example" },
      { of_person: true, issuer: null },
      { of_person: false, brand_id: brand.id },
    ],
    sign_in_links: [{ of_person: true }, { of_person: false, brand_id: brand.id, used_at: expect.any(String) }],
    identities: [{ issuer: "https://id.example", subject: email }],
    keys: [
      { name: "Ours", created_by_person: true, revoked_by_person: false, revoked_at: expect.any(String) },
      { name: "Reports", created_by_person: false, revoked_by_person: true },
    ],
  });
  const entries = all.audit_entries.filter(({ action }) => !ofSession(action));
  expect(entries.map(({ by, action, subject_id, address }) => [by, action, subject_id, address])).toEqual([
    ["operator", "member.add", email, null],
    ["operator", "member.add", email, null],
    ["operator", "sign_in_link.create", email, null],
    ["person", "receiver.test", null, "203.0.113.7"],
    ["other", "receiver.test", email, null],
  ]);
  const text = JSON.stringify(all);
  expect(text).not.toContain(brand.owner);
  expect(text).not.toContain("198.51.100.9");
  const hashes = await served.db.query<{ hash: string }>(
    "select encode(token_hash, 'hex') as hash from accounts.sessions union all select encode(token_hash, 'hex') from accounts.sign_in_links",
  );
  for (const { hash } of hashes) expect(text).not.toContain(hash);
});

it("exports and erases what was done through links of the person, and names no one else by it", async () => {
  const { brand, email } = await people.newPerson();
  await record(served, brand, { via: email, address: "198.51.100.9" });
  const found = (await exported(email)).audit_entries.at(-1);
  expect(found).toMatchObject({ by: "other", action: "receiver.create", via_person: true, address: null });
  expect(JSON.stringify(found)).not.toContain(brand.owner);
  expect((await exported(brand.owner)).audit_entries.at(-1)).toMatchObject({ by: "person", via_person: false, address: "198.51.100.9" });
  await people.removeMember(brand, email);
  const pseudonym = await begin(email);
  await settle(email);
  expect((await erase(email)).brand_ids).toEqual([brand.id]);
  expect(await everything()).not.toContain(email);
  const { entries } = await served.audit.listAudit({ brand_id: brand.id, action: "receiver.create", page_size: 0 });
  expect(entries).toEqual([expect.objectContaining({ actor: brand.owner, via: pseudonym, address: null })]);
});

it("exports the same in pages of any size, and refuses another person's token", async () => {
  const { email } = await activePerson();
  expect(await exported(email, 1)).toEqual(await exported(email, 1_000));
  const { next_page_token: page_token } = await served.operator.exportPerson({ email, page_size: 1 });
  const other = { email: "other@example.ph", page_size: 1, page_token };
  await expectRefusal(served.operator.exportPerson(other), "invalid_cursor");
});

it("refuses to erase a member", async () => {
  const { email } = await activePerson();
  await expectRefusal(begin(email), "still_a_member");
  await expectRefusal(erase(email), "still_a_member");
});

it("refuses to end the erasure of a person who became a member again", async () => {
  const { brand, email } = await activePerson();
  await people.removeMember(brand, email);
  const pseudonym = await begin(email);
  await settle(email);
  await people.addMember(brand, email);
  await expectRefusal(erase(email), "still_a_member");
  // The erasure is over: what is erased later has another pseudonym.
  expect((await exported(email)).erasures).toEqual([]);
  await people.removeMember(brand, email);
  expect(await begin(email)).not.toBe(pseudonym);
});

/** Returns the database, which runs something before its second call. */
function beforeSecondCall(db: Database, something: () => Promise<unknown>): Database {
  let calls = 0;
  const before = async (): Promise<void> => {
    calls += 1;
    if (calls === 2) await something();
  };
  return {
    ...db,
    query: (statement, values) => before().then(() => db.query(statement, values)),
    transaction: (work, options) => before().then(() => db.transaction(work, options)),
  };
}

it("leaves what a person does who becomes a member again while the erasure ends", async () => {
  const { brand, email } = await activePerson();
  await people.removeMember(brand, email);
  await begin(email);
  await settle(email);
  const another = await served.alsoWith({
    db: beforeSecondCall(served.db, async () => {
      await people.addMember(brand, email);
      await entry(brand, email, "key_2");
    }),
  });
  await expectRefusal(another.operator.erasePerson({ email, brand_ids: [] }), "still_a_member");
  const { entries } = await served.audit.listAudit({ brand_id: brand.id, actor: email, action: "receiver.test", page_size: 0 });
  expect(entries[0]).toMatchObject({ subject_id: "key_2", address: "203.0.113.7" });
});

it("waits until requests from before the removal have ended, and erases what they wrote", async () => {
  const { brand, email } = await activePerson();
  await people.removeMember(brand, email);
  const { settles_in_ms } = await served.operator.beginErasure({ email });
  expect(settles_in_ms).toBeGreaterThan(30_000);
  expect(settles_in_ms).toBeLessThanOrEqual(35_000);
  await expect(erase(email)).rejects.toMatchObject({ kind: "request_conflict", retryAfterSeconds: expect.any(Number) });
  await entry(brand, email, "key_1");
  await settle(email);
  expect(await served.operator.beginErasure({ email })).toMatchObject({ settles_in_ms: 0 });
  await erase(email);
  expect(await everything()).not.toContain(email);
});

it("counts the time from the end of the removal, not from a beginning that waited for it", async () => {
  const email = "waiting@example.ph";
  let begun: Promise<unknown> = Promise.resolve();
  let locked = 0;
  await served.db.transaction(async (sql) => {
    await lockPerson(sql, email);
    begun = begin(email);
    await untilWaiting(served.db);
    const [now] = await served.db.query<{ at: string }>("select clock_timestamp() as at");
    locked = Date.parse(now?.at ?? "");
  });
  await begun;
  expect(Date.parse((await exported(email)).erasures[0]?.begun_at ?? "")).toBeGreaterThanOrEqual(locked);
});

it("writes no entry for a deleted brand, nor for one that does not exist", async () => {
  const { brand, email } = await activePerson();
  const [deleted, remaining] = [await served.createBrand(), await served.createBrand()];
  await people.removeMember(brand, email);
  await served.operator.beginBrandDeletion({ brand_id: deleted.id, resume: false });
  await begin(email);
  await settle(email);
  const { brand_ids } = await erase(email, [deleted.id, newId("brd"), remaining.id]);
  expect(brand_ids).toEqual([brand.id, remaining.id].toSorted());
  const named = "select from accounts.audit_entries where brand_id = $1 and action = 'person.erase'";
  expect(await served.db.query(named, [deleted.id])).toEqual([]);
});

it("leaves one pseudonym in place of the address, and an entry without it in the log of each brand", async () => {
  const { brand, email } = await activePerson();
  const plansOnly = await served.createBrand();
  await people.removeMember(brand, email);
  const pseudonym = await begin(email);
  expect(pseudonym).toMatch(/^erased_[0-9a-z]{26}$/);
  expect(await begin(email)).toBe(pseudonym);
  expect((await exported(email)).erasures).toMatchObject([{ pseudonym }]);
  await settle(email);
  expect((await erase(email, [plansOnly.id])).brand_ids.toSorted()).toEqual([brand.id, plansOnly.id].toSorted());
  expect(await everything()).not.toContain(email);
  for (const { id } of [brand, plansOnly]) {
    const { entries } = await served.audit.listAudit({ brand_id: id, page_size: 0 });
    expect(entries[0]).toMatchObject({ action: "person.erase", actor: null, subject_id: pseudonym, outcome: "done", address: null });
  }
  const { entries } = await served.audit.listAudit({ brand_id: brand.id, page_size: 0 });
  const own = entries.filter(({ action, actor }) => actor === pseudonym && !ofSession(action));
  expect(own).toMatchObject([{ action: "receiver.test", subject_id: brand.owner, address: null, browser: null }]);
  const about = entries.filter(({ action, subject_id }) => subject_id === pseudonym && !ofSession(action));
  expect(about.map(({ action, actor, address }) => [action, actor, address])).toEqual([
    ["person.erase", null, null],
    ["member.remove", null, null],
    // It is the entry of the owner who did it.
    ["receiver.test", brand.owner, "198.51.100.9"],
    ["sign_in_link.create", null, null],
    ["member.add", null, null],
    ["member.add", null, null],
  ]);
  const { keys } = await served.accounts.listKeys({ brand_id: brand.id, ids: [] });
  expect(keys.map(({ created_by, revoked_by }) => [created_by, revoked_by])).toEqual([
    [brand.owner, pseudonym],
    [pseudonym, brand.owner],
  ]);
  await expectRefusal(erase(email), "not_found");
  expect(await begin(email)).not.toBe(pseudonym);
});

it("is complete for 2,500 entries in three brands, ends once for two operators, and leaves another person's alone", async () => {
  const email = "busy@example.ph";
  const brands = [await served.createBrand(), await served.createBrand(), await served.createBrand()];
  for (const [at, { id }] of brands.entries()) {
    await served.db.query(
      `insert into accounts.audit_entries (id, brand_id, actor, action, subject_id, fields, request_id, address)
       select 'aud_busy' || $1 || 'x' || n, $2, case when n % 2 = 0 then $3 end, 'key.create', case when n % 2 = 1 then $3 end, '{}', 'r', '203.0.113.7'
         from generate_series(1, $4::int) n`,
      [at, id, email, at === 0 ? 834 : 833],
    );
    await entry({ id, owner: "" }, "other@example.ph", "busy@example.ph.test");
  }
  expect(new Set((await exported(email, 100)).audit_entries.map(({ id }) => id)).size).toBe(2_500);
  const pseudonym = await begin(email);
  await settle(email);
  expect((await settled([erase(email), erase(email)])).done).toHaveLength(1);
  expect(Object.values(await exported(email)).flat()).toEqual([]);
  expect(await exported("busy@example.ph.test")).toMatchObject({ audit_entries: [{}, {}, {}] });
  const [{ named, erasures } = { named: 0, erasures: 0 }] = await served.db.query<{ named: number; erasures: number }>(
    `select count(*) as named, count(*) filter (where action = 'person.erase') as erasures from accounts.audit_entries
      where actor = $1 or subject_id = $1`,
    [pseudonym],
  );
  expect([named, erasures]).toEqual([2_503, 3]);
});
