import { generateKey } from "@brand-records/ids";
import type { AppendAuditRequest, ListAuditRequest } from "@brand-records/proto/accounts/v1";
import { atDate, expectRefusal, servedAccounts, type TestBrand } from "../../test/serve-accounts.ts";

const served = servedAccounts();
let brand: TestBrand;
beforeEach(async () => {
  brand = await served.createBrand();
});

const append = async (given: Partial<AppendAuditRequest> = {}) => {
  const request = { brand_id: brand.id, actor: brand.owner, action: "key.create", fields: ["name"], request_id: "req-1", ...given };
  const { entry } = await served.audit.appendAudit(request);
  if (entry == null) throw new Error("no entry");
  return entry;
};
const finish = async (id: string, outcome: string, more: { error_kind?: string; subject_id?: string; brand_id?: string } = {}) =>
  (await served.audit.finishAudit({ brand_id: brand.id, entry_id: id, outcome, ...more })).entry;
const list = (given: Partial<ListAuditRequest> = {}) => served.audit.listAudit({ brand_id: brand.id, page_size: 0, ...given });
const idsOf = ({ entries }: { entries: { id: string }[] }): string[] => entries.map(({ id }) => id);

it("has an entry before the change, without an outcome, and the outcome after it", async () => {
  const before = await append({ actor: "Ana@Example.PH", address: "203.0.113.7", fields: ["name", "permissions"] });
  expect(before).toMatchObject({
    id: expect.stringMatching(/^aud_/),
    actor: "ana@example.ph",
    action: "key.create",
    fields: ["name", "permissions"],
    request_id: "req-1",
    address: "203.0.113.7",
    subject_id: null,
    outcome: null,
    finished_at: null,
  });
  expect((await list()).entries).toEqual([before]);
  const after = await finish(before.id, "done", { subject_id: "key_1" });
  expect(after).toEqual({ ...before, outcome: "done", subject_id: "key_1", finished_at: expect.any(String) });
  expect((await list()).entries).toEqual([after]);
});

it("says through whose link the actor was signed in, and finds the entry by either person", async () => {
  const [through, own] = [await append({ via: "Ana@Example.PH", actor: "bea@example.ph" }), await append({ actor: "bea@example.ph" })];
  expect([through.via, own.via]).toEqual(["ana@example.ph", null]);
  expect(await finish(through.id, "done")).toMatchObject({ actor: "bea@example.ph", via: "ana@example.ph" });
  expect(idsOf(await list({ actor: "ana@example.ph" }))).toEqual([through.id]);
  expect(idsOf(await list({ actor: "bea@example.ph" }))).toEqual(expect.arrayContaining([through.id, own.id]));
});

it("keeps the first outcome and the subject of the entry, however often it is finished", async () => {
  const { id } = await append({ subject_id: "key_1" });
  const first = await finish(id, "failed", { error_kind: "owner_required", subject_id: "key_2" });
  expect(first).toMatchObject({ outcome: "failed", error_kind: "owner_required", subject_id: "key_1" });
  expect(await finish(id, "done")).toEqual(first);
  const other = await append();
  const finished = await Promise.all(["done", "failed", "unknown", "done"].map((outcome) => finish(other.id, outcome)));
  expect(new Set(finished.map((entry) => entry?.outcome)).size).toBe(1);
});

it("lists no other brand's entries, and finishes none", async () => {
  const entry = await append();
  const theirs = await served.createBrand();
  expect(await list({ brand_id: theirs.id })).toEqual({ entries: [], next_page_token: null });
  await expectRefusal(finish(entry.id, "done", { brand_id: theirs.id }), "not_found", "entry_id");
  expect((await list()).entries).toEqual([entry]);
});

it("pages newest first, without repeating or missing an entry while others are appended, and ends with a full page", async () => {
  const ids: string[] = [];
  for (let i = 0; i < 6; i += 1) ids.unshift((await append()).id);
  // Entries of one millisecond are ordered by their ids.
  await served.db.query("update accounts.audit_entries set created_at = now() where brand_id = $1", [brand.id]);
  const seen: string[] = [];
  let token: string | null | undefined;
  do {
    const page = await list({ page_size: 2, ...(token != null && { page_token: token }) });
    seen.push(...idsOf(page));
    token = page.next_page_token;
    await append();
  } while (token != null);
  expect(seen).toEqual(ids.toSorted().toReversed());
});

it("lists entries of one millisecond in the order in which they were appended", async () => {
  const ids: string[] = [];
  // The clock stands still; everything else takes its time.
  await atDate(Date.now(), async () => {
    for (let i = 0; i < 5; i += 1) ids.push((await append()).id);
  });
  await served.db.query("update accounts.audit_entries set created_at = now() where brand_id = $1", [brand.id]);
  expect(idsOf(await list())).toEqual(ids.toReversed());
});

it("filters by person, action and time", async () => {
  const [member, operator, other] = [
    await append({ actor: "ana@example.ph" }),
    await append({ actor: null, action: "key.revoke" }),
    await append({ actor: "zoe@example.ph" }),
  ];
  const ids = async (filter: Partial<ListAuditRequest>) => idsOf(await list(filter));
  expect(await ids({ actor: "ANA@example.ph" })).toEqual([member.id]);
  expect(await ids({ actor: "operator" })).toEqual([operator.id]);
  expect(await ids({ action: "key.revoke" })).toEqual([operator.id]);
  expect(await ids({ action: "key" })).toEqual([other.id, operator.id, member.id]);
  expect(await ids({ action: "ke" })).toEqual([]);
  expect(await ids({ actor: "ana@example.ph", action: "key.revoke" })).toEqual([]);
  await served.db.query("update accounts.audit_entries set created_at = '2026-01-01T00:00:00Z' where id = $1", [member.id]);
  await served.db.query("update accounts.audit_entries set created_at = '2026-01-02T00:00:00Z' where id = $1", [operator.id]);
  expect(await ids({ from: "2026-01-01T08:00:00+08:00", to: "2026-01-02T00:00:00Z" })).toEqual([member.id]);
  expect(await ids({ from: "2026-01-02T00:00:00Z" })).toEqual([other.id, operator.id]);
});

it("refuses a page token of another brand or filter, or made up", async () => {
  for (let i = 0; i < 2; i += 1) await append();
  const { next_page_token: token } = await list({ page_size: 1 });
  const theirs = await served.createBrand();
  const refused = [{ brand_id: theirs.id }, { actor: "operator" }, { action: "key.create" }, { from: "2026-01-01T00:00:00Z" }];
  for (const filter of refused) await expectRefusal(list({ ...filter, page_token: token }), "invalid_cursor");
  for (const page_token of ["", "x", "é", Buffer.from("1 0 0 0").toString("base64url"), `${token}A`])
    await expectRefusal(list({ page_token }), "invalid_cursor", "page_token");
});

it.each([
  ["a value among the fields", { fields: ["name", "Ana's key"] }, "fields.1"],
  ["a URL among the fields", { fields: ["https://hooks.example/?token=x"] }, "fields.0"],
  ["too many fields", { fields: Array.from({ length: 51 }, () => "name") }, "fields"],
  ["an action that is not one", { action: "Created a key" }, "action"],
  ["a subject that is not one", { subject_id: "Ana, with notes" }, "subject_id"],
  ["a key in the place of its id", { subject_id: `brk_live_${"x".repeat(36)}` }, "subject_id"],
  ["a real key in the place of its id", { subject_id: generateKey("live") }, "subject_id"],
  ["a signing secret", { subject_id: `whsec_${"x".repeat(43)}=` }, "subject_id"],
  ["a broken address", { address: "fe80::1%eth0" }, "address"],
  ["a request id with a line break", { request_id: "a\nb" }, "request_id"],
  ["an actor that is not a person", { actor: "operator" }, "actor"],
])("refuses %s", async (_, given, field) => {
  await expectRefusal(append(given), "invalid_request", field);
  expect((await list()).entries).toEqual([]);
});

it.each(["brk_team@brand.example", "WHSEC_ana@brand.example"])("has the address %s as a subject: it is no secret", async (subject_id) => {
  expect((await append({ action: "member.add", subject_id })).subject_id).toBe(subject_id.toLowerCase());
});

it("refuses to list more than 200 entries a page, and those of what is not a person", async () => {
  await expectRefusal(list({ page_size: 201 }), "invalid_request", "page_size");
  const message = "actor must be an e-mail address, a pseudonym, or operator";
  await expect(list({ actor: "everyone" })).rejects.toMatchObject({ kind: "invalid_request", message });
});
