import type { AuditEntry, ExportAuditRequest } from "@brand-records/proto/accounts/v1";
import { METHODS } from "@brand-records/proto/methods";
import { newId } from "@brand-records/ids";
import { exportAudit } from "../use-cases/audit.ts";
import { peopleOf } from "../../test/people.ts";
import { record as recordFor } from "../../test/recorded-entry.ts";
import { expectRefusal, servedAccounts, type TestBrand } from "../../test/serve-accounts.ts";

/** One promise: pages of an export, put one after the other, have every change of the audit log, whatever is written meanwhile. */

const served = servedAccounts();
let ours: TestBrand;
let theirs: TestBrand;
beforeEach(async () => {
  [ours, theirs] = [await served.createBrand(), await served.createBrand()];
  await served.db.query("truncate accounts.audit_entries");
});

const page = (given: Partial<ExportAuditRequest> = {}) => served.audit.exportAudit({ page_size: 0, ...given });

async function exported(page_size = 0, given: Partial<ExportAuditRequest> = {}): Promise<AuditEntry[]> {
  const all: AuditEntry[] = [];
  for (let page_token: string | null | undefined; ;) {
    const { entries, next_page_token, end_reached } = await page({ page_size, ...given, page_token });
    all.push(...entries);
    if (end_reached) return all;
    page_token = next_page_token;
  }
}

const record = (brand: TestBrand): Promise<string> => recordFor(served, brand);
/** A refusal that was tried so often by now. */
const refuse = (brand: TestBrand, tries: number): Promise<string> =>
  recordFor(served, brand, { id: "aud_refused", outcome: "failed", error_kind: "owner_required", tries });
/** Moves all changes so far back in time, so that they are settled. */
const settle = (seconds = 60) =>
  served.db.query(
    `update accounts.audit_entries set created_at = created_at - make_interval(secs => $1),
            finished_at = finished_at - make_interval(secs => $1)`,
    [seconds],
  );
const moveTo = (id: string, time: string) =>
  served.db.query("update accounts.audit_entries set created_at = $2, finished_at = $2 where id = $1", [id, time]);
const idsOf = (entries: readonly { id: string }[]): string[] => entries.map(({ id }) => id);

it("has the entries of all brands, of deleted ones too, as a list has them, in the order of their last change, whatever the size of a page", async () => {
  const refused = await refuse(ours, 1);
  const first = await record(theirs);
  const second = await record(ours);
  await refuse(ours, 2);
  await served.operator.beginBrandDeletion({ brand_id: theirs.id, resume: false });
  await settle();
  const all = await exported();
  const { entries: listed } = await served.audit.listAudit({ brand_id: ours.id, page_size: 0 });
  expect(all.filter(({ brand_id }) => brand_id === ours.id)).toEqual(listed);
  expect(all.map(({ brand_id, action, outcome }) => [brand_id, action, outcome])).toEqual([
    [theirs.id, "receiver.create", "done"],
    [ours.id, "receiver.create", "done"],
    [ours.id, "receiver.create", "failed"],
    [theirs.id, "brand.delete", null],
  ]);
  expect(idsOf(all).slice(0, 3)).toEqual([first, second, refused]);
  for (const size of [1, 2, 3, 4, 5]) expect(await exported(size)).toEqual(all);
});

it("is empty at first, without a token", async () => {
  expect(await page()).toEqual({ entries: [], next_page_token: null, end_reached: true, settled_until: expect.any(String) });
});

it("returns no more than a message takes", async () => {
  await served.db.query(
    `insert into accounts.audit_entries (id, brand_id, action, fields, request_id, created_at)
     select 'aud_' || n, 'brd_1', 'key.create', array_fill('a_field_with_a_long_name_of_forty_letters'::text, array[50]), 'r', now() - interval '1 h'
       from generate_series(1, 5000) n`,
  );
  const { entries, end_reached } = await page({ page_size: 5_000 });
  expect(end_reached).toBe(false);
  expect(entries.length).toBeGreaterThan(1_000);
  expect(Buffer.byteLength(JSON.stringify(entries))).toBeLessThan(5_000_000);
});

it("does not have the last 35 seconds yet, and goes on there later with the token of its end", async () => {
  const old = await record(ours);
  await settle();
  const young = await record(ours);
  const { entries, next_page_token, end_reached, settled_until } = await page();
  expect([idsOf(entries), end_reached]).toEqual([[old], true]);
  const waited = "select now() - $1 >= interval '35 s' as waited";
  expect(await served.db.query(waited, [settled_until])).toEqual([{ waited: true }]);
  expect(await page({ page_token: next_page_token })).toMatchObject({ entries: [], next_page_token, end_reached: true });
  await moveTo(young, new Date(Date.now() - 40_000).toISOString());
  expect(idsOf((await page({ page_token: next_page_token })).entries)).toEqual([young]);
});

it("waits for a transaction in progress, whose entries have the time at which it began", async () => {
  const atOnce = (token: string | null = null) => exportAudit(served.db, null, 10, token, 0);
  const before = await record(ours);
  await settle();
  let token: string | null = null;
  let within = "";
  await served.db.transaction(async (sql) => {
    // The transaction has begun, and has written nothing: an entry of another one is committed first.
    await sql.query("select 1");
    await record(ours);
    within = newId("aud");
    const during = await atOnce();
    expect(idsOf(during.entries)).toEqual([before]);
    token = during.next_page_token ?? null;
    await sql.query(
      "insert into accounts.audit_entries (id, brand_id, action, fields, request_id) values ($1, $2, 'key.revoke', '{}', 'r')",
      [within, ours.id],
    );
    expect((await atOnce(token)).entries).toEqual([]);
  });
  const { entries } = await atOnce(token);
  expect(entries.map(({ action }) => action)).toEqual(["key.revoke", "receiver.create"]);
  expect(idsOf(entries)[0]).toBe(within);
});

it("has a refusal again when it is counted again: the last of an id counts", async () => {
  const [refused, other] = [await refuse(ours, 1), await record(ours)];
  await settle(600);
  const before = await page();
  expect(before.entries.map(({ id, tries }) => [id, tries])).toEqual([
    [refused, 1],
    [other, 1],
  ]);
  await refuse(ours, 2);
  await served.db.query("update accounts.audit_entries set finished_at = finished_at - interval '60 s' where id = $1", [refused]);
  const after = await page({ page_token: before.next_page_token });
  expect(after.entries.map(({ id, tries }) => [id, tries])).toEqual([[refused, 2]]);
});

it("has refused sign-ins again when they are tried again", async () => {
  const people = peopleOf(served);
  const { brand, email } = await people.newPerson();
  const link = await people.link(email);
  // A brand's log tells of a person who has opened it.
  await people.grants(await people.open(link), brand);
  const tryAgain = () => expectRefusal(people.redeem(link), "sign_in_link_used");
  await tryAgain();
  await settle(600);
  const before = await page();
  await tryAgain();
  await served.db.query("update accounts.audit_entries set finished_at = finished_at - interval '60 s' where tries = 2");
  const after = await page({ page_token: before.next_page_token });
  expect([before.entries.at(-1)?.tries, after.entries.map(({ tries }) => tries)]).toEqual([1, [2]]);
  expect(after.entries[0]?.id).toBe(before.entries.at(-1)?.id);
});

it("orders entries of one millisecond by their ids", async () => {
  const ids: string[] = [];
  for (let i = 0; i < 5; i += 1) ids.push(await record(ours));
  for (const id of ids) await moveTo(id, "2026-01-01T00:00:00Z");
  expect(idsOf(await exported(2))).toEqual(ids.toSorted());
});

it("begins at a time, that included", async () => {
  const [first, second] = [await record(ours), await record(ours)];
  await moveTo(first, "2026-01-01T00:00:00Z");
  await moveTo(second, "2026-01-02T00:00:00Z");
  expect(idsOf(await exported(1, { since: "2026-01-01T08:00:00+08:00" }))).toEqual([first, second]);
  expect(idsOf(await exported(1, { since: "2026-01-01T00:00:00.001Z" }))).toEqual([second]);
  expect(await exported(1, { since: "2026-01-03T00:00:00Z" })).toEqual([]);
});

it("refuses a token of another time or of a list, or made up", async () => {
  for (let i = 0; i < 2; i += 1) await record(ours);
  await settle();
  const { next_page_token: token } = await page({ page_size: 1 });
  const list = await served.audit.listAudit({ brand_id: ours.id, page_size: 1 });
  await expectRefusal(page({ page_token: token, since: "2026-01-01T00:00:00Z" }), "invalid_cursor");
  for (const page_token of ["", "x", list.next_page_token, `${token}A`])
    await expectRefusal(page({ page_token }), "invalid_cursor", "page_token");
});

it("refuses a time or a size that is none", async () => {
  await expectRefusal(page({ since: "yesterday" }), "invalid_request", "since");
  await expectRefusal(page({ page_size: 5_001 }), "invalid_request", "page_size");
});

it("is for the operator alone", () => {
  expect(METHODS["/accounts.v1.AuditService/ExportAudit"]).toEqual({ isIdempotent: true, callers: [], actor: "caller" });
});

it("has no secret: keys, tokens of links and sessions, and their hashes", async () => {
  const people = peopleOf(served);
  const { brand, email } = await people.newPerson();
  const key = await served.createKey(brand);
  const link = await people.link(email);
  const session = await people.session(email);
  await people.peek(link);
  await people.redeem(link);
  await people.end(session);
  await settle();
  const text = JSON.stringify(await exported());
  expect(text).toContain(email);
  for (const token of [link, session]) {
    for (const secret of [token, people.hashOf(token).toString("hex"), people.hashOf(token).toString("base64")])
      expect(text).not.toContain(secret);
  }
  expect(text).not.toContain(key.secret);
});
