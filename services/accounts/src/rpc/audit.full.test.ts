import { generateKey } from "@brand-records/ids";
import type { AppendAuditRequest, ListAuditRequest } from "@brand-records/proto/accounts/v1";
import type { SentAuditEntry } from "@brand-records/service-runtime";
import { peopleOf } from "../../test/people.ts";
import { record as recordFor, recordedEntry } from "../../test/recorded-entry.ts";
import { runAfterRestore } from "../../test/run-after-restore.ts";
import { atDate, callContext, expectRefusal, servedAccounts, type TestBrand } from "../../test/serve-accounts.ts";

/** The log itself: what plans and webhook hand over, and lists. recorded-changes.test.ts has accounts' own entries. */

const served = servedAccounts();
const people = peopleOf(served);
let brand: TestBrand;
beforeEach(async () => {
  brand = await served.createBrand();
  await served.db.query("truncate accounts.audit_entries");
});

const record = (given: Partial<SentAuditEntry> = {}): Promise<string> => recordFor(served, brand, given);
const list = (given: Partial<ListAuditRequest> = {}) => served.audit.listAudit({ brand_id: brand.id, page_size: 0, ...given });
const idsOf = ({ entries }: { entries: { id: string }[] }): string[] => entries.map(({ id }) => id);

describe("what plans and webhook record", () => {
  it("is in the log as they made it, with the time of the change", async () => {
    const entry = recordedEntry(brand, {
      via: "zoe@ulap.example",
      action: "receiver.update",
      subject_id: "rcv_1",
      fields: ["url", "max_in_flight"],
      address: "203.0.113.7",
      browser: "Firefox",
      created_at: "2026-11-21T08:30:00.123Z",
    });
    await served.audit.recordAudit({ entries: [entry] });
    expect((await list()).entries).toEqual([{ ...entry, finished_at: expect.any(String) }]);
  });

  it("is written once, however often and by however many processes it is handed over", async () => {
    const entry = recordedEntry(brand);
    const hand = (given: Partial<SentAuditEntry> = {}) => served.audit.recordAudit({ entries: [{ ...entry, ...given }] });
    await Promise.all(Array.from({ length: 5 }, () => hand()));
    const { entries } = await list();
    expect(entries).toEqual([expect.objectContaining(entry)]);
    await hand({ subject_id: "rcv_2", action: "receiver.delete" });
    expect((await list()).entries).toEqual(entries);
  });

  it("counts refusals up, never down, with the address of the last one, and another person's never", async () => {
    const refused = { outcome: "failed", error_kind: "owner_required", address: "203.0.113.7" } as const;
    const entry = recordedEntry(brand, refused);
    const hand = (given: Partial<SentAuditEntry>) => served.audit.recordAudit({ entries: [{ ...entry, ...given }] });
    await hand({});
    await hand({ tries: 3, address: "203.0.113.8", request_id: "req-3" });
    await hand({ tries: 2, address: "203.0.113.9" });
    await hand({ tries: 9, actor: "other@ulap.example" });
    expect((await list()).entries).toEqual([
      { ...entry, tries: 3, address: "203.0.113.8", request_id: "req-3", finished_at: expect.any(String) },
    ]);
  });

  it("is not taken of a deleted brand, and holds up no other", async () => {
    const deleted = await served.createBrand();
    await served.operator.beginBrandDeletion({ brand_id: deleted.id, resume: false });
    const entry = recordedEntry(brand);
    await served.audit.recordAudit({ entries: [recordedEntry(deleted), entry] });
    expect(idsOf(await list())).toEqual([entry.id]);
    expect((await list({ brand_id: deleted.id, action: "receiver" })).entries).toEqual([]);
  });

  it("is asked for again by another epoch after a restore alone", async () => {
    const epochOf = async (): Promise<string> => (await served.audit.recordAudit({ entries: [] })).epoch;
    const before = await epochOf();
    expect(await epochOf()).toBe(before);
    await runAfterRestore(served);
    expect(await epochOf()).not.toBe(before);
  });

  it.each([
    ["a value among the fields", { fields: ["name", "Ana's key"] }, "fields.1"],
    ["a URL among the fields", { fields: ["https://hooks.example/?token=x"] }, "fields.0"],
    ["too many fields", { fields: Array.from({ length: 51 }, () => "name") }, "fields"],
    ["an action that is not one", { action: "Created a key" }, "action"],
    ["an action of accounts", { action: "member.remove" }, "action"],
    ["the action that stands for a deleted brand", { action: "brand.delete" }, "action"],
    ["a subject that is not one", { subject_id: "Ana, with notes" }, "subject_id"],
    ["a key in the place of its id", { subject_id: `brk_live_${"x".repeat(36)}` }, "subject_id"],
    ["a real key in the place of its id", { subject_id: generateKey("live") }, "subject_id"],
    ["a signing secret", { subject_id: `whsec_${"x".repeat(43)}=` }, "subject_id"],
    ["a broken address", { address: "fe80::1%eth0" }, "address"],
    ["a request id with a line break", { request_id: "a\nb" }, "request_id"],
    ["an outcome that is none", { outcome: "unknown" as "done" }, "outcome"],
    ["no time", { created_at: "today" }, "created_at"],
    ["an id that is none", { id: "key_1" }, "id"],
  ])("is refused with %s", async (_, given, field) => {
    const [good, bad] = [recordedEntry(brand), recordedEntry(brand, given)];
    const { refused } = await served.audit.recordAudit({ entries: [bad, good] });
    expect(refused).toEqual([{ id: bad.id, problem: expect.stringContaining(`at ${field.replace(/\.(\d+)/, "[$1]")}`) }]);
    expect(idsOf(await list())).toEqual([good.id]);
  });

  it.each(["brk_team@brand.example", "WHSEC_ana@brand.example"])(
    "may have the address %s as a subject: it is no secret",
    async (subject_id) => {
      await record({ subject_id });
      expect((await list()).entries[0]?.subject_id).toBe(subject_id.toLowerCase());
    },
  );
});

/** What a console or brandctl 1.0 says it is about to do: a process of 1.0 may do it. */
describe("what is announced", () => {
  const update = (since: string) =>
    served.db.query("update accounts.audit_epoch set announced_until = now() - $1::interval + interval '1 day'", [since]);
  const append = async (given: Partial<AppendAuditRequest> = {}, call = callContext()) => {
    const request = { brand_id: brand.id, actor: brand.owner, action: "receiver.create", fields: ["url"], request_id: "req-1", ...given };
    const { entry } = await served.audit.appendAudit(request, call);
    if (entry == null) throw new Error("no entry");
    return entry;
  };
  const finish = (entry_id: string, given: object = {}, call = callContext()) =>
    served.audit.finishAudit({ brand_id: brand.id, entry_id, outcome: "done", ...given }, call);

  it("is not written in a new system, which has no 1.0", async () => {
    await append();
    expect((await list()).entries).toEqual([]);
  });

  describe("within a day after the update", () => {
    beforeEach(() => update("1 hour"));

    it("has no outcome until it is finished, and then the first one", async () => {
      const announced = await append();
      expect((await list()).entries).toEqual([announced]);
      expect(announced).toMatchObject({ actor: brand.owner, subject_id: null, outcome: null, finished_at: null });
      await finish(announced.id, { subject_id: "rcv_1" });
      await finish(announced.id, { outcome: "failed", error_kind: "timeout" });
      const finished = { outcome: "done", error_kind: null, subject_id: "rcv_1", finished_at: expect.any(String) };
      expect((await list()).entries).toEqual([{ ...announced, ...finished }]);
    });

    it.each([
      ["before", async () => {}],
      ["after", finish],
    ])("makes place for the recorded entry of the same change, %s it is finished", async (_, finishFirst) => {
      const announced = await append();
      await finishFirst(announced.id);
      const id = await record();
      await finish(announced.id, { outcome: "unknown" });
      expect((await list()).entries).toMatchObject([{ id, outcome: "done" }]);
    });

    it("makes place for the operator's, which has no actor", async () => {
      await append({ actor: null });
      const id = await record({ actor: null });
      expect(idsOf(await list())).toEqual([id]);
    });

    it("stays beside the entry of another change: of another request, person, action or brand", async () => {
      const theirs = await served.createBrand();
      const others = [{ request_id: "req-2" }, { actor: null }, { action: "receiver.test" }, { brand_id: theirs.id }];
      const announced: string[] = [];
      for (const other of others) announced.push((await append(other)).id);
      const id = await record();
      expect([...idsOf(await list()), ...idsOf(await list({ brand_id: theirs.id, action: "receiver" }))].toSorted()).toEqual(
        [...announced, id].toSorted(),
      );
    });

    it("is finished by its own person alone", async () => {
      const email = `lia@${brand.id.slice(4)}.example`;
      await people.addMember(brand, email);
      const { id } = await append();
      const grants = await people.grants(await people.session(email), brand);
      await finish(id, {}, { ...callContext(), grants });
      expect((await list({ action: "receiver" })).entries).toMatchObject([{ id, outcome: null }]);
    });

    it("is not written when the change is recorded already", async () => {
      const id = await record();
      await append();
      expect(idsOf(await list())).toEqual([id]);
    });

    it.each(["brand.delete", "identity.unlink", "person.erase", "session.sign_out", "sign_in_link.create"])(
      "is not %s: accounts of 1.0 wrote that itself",
      async (action) => {
        const { id } = await append({ action, actor: null });
        await finish(id);
        expect((await list()).entries).toEqual([]);
      },
    );

    it("is what the person may do: of members nothing that owners do, of owners nothing of the operator's", async () => {
      const email = `lia@${brand.id.slice(4)}.example`;
      await people.addMember(brand, email);
      const [owner, member] = await Promise.all(
        [brand.owner, email].map(async (each) => ({ ...callContext(), grants: await people.grants(await people.session(each), brand) })),
      );
      await served.db.query("truncate accounts.audit_entries");
      for (const action of ["key.revoke", "member.remove", "member.leave", "plan.update", "brand.set_tier"]) {
        await append({ action }, owner);
        await append({ action }, member);
        await append({ action, actor: null });
      }
      const announced = async (actor: string) => (await list({ actor })).entries.map(({ action }) => action).toReversed();
      expect(await announced(email)).toEqual(["member.leave", "plan.update"]);
      expect(await announced(brand.owner)).toEqual(["key.revoke", "member.remove", "member.leave", "plan.update"]);
      expect(await announced("operator")).toEqual(["key.revoke", "member.remove", "member.leave", "plan.update", "brand.set_tier"]);
    });

    it("is not written later than a day after the update, and is no error", async () => {
      await update("25 hours");
      const { id } = await append();
      await finish(id);
      expect((await list()).entries).toEqual([]);
    });

    it("is refused for a deleted brand", async () => {
      await served.operator.beginBrandDeletion({ brand_id: brand.id, resume: false });
      await expectRefusal(append(), "not_found", "brand_id");
    });
  });
});

it("finds an entry by the person whose link opened the session, too", async () => {
  const [through, own] = [await record({ via: "ana@example.ph", actor: "bea@example.ph" }), await record({ actor: "bea@example.ph" })];
  expect(idsOf(await list({ actor: "ana@example.ph" }))).toEqual([through]);
  expect(idsOf(await list({ actor: "bea@example.ph" }))).toEqual([own, through]);
});

it("lists no other brand's entries", async () => {
  await record();
  const theirs = await served.createBrand();
  expect(await list({ brand_id: theirs.id, action: "receiver" })).toEqual({ entries: [], next_page_token: null, keys: [] });
});

it("has the keys that its entries name, and no other brand's", async () => {
  const [ours, theirs] = [await served.createKey(brand), await served.createKey(await served.createBrand())];
  for (const subject_id of [ours.id, ours.id, theirs.id, "rcv_1", null]) await record({ subject_id });
  const { keys } = await list({ action: "receiver" });
  expect(keys).toEqual([expect.objectContaining({ id: ours.id, name: "Reports" })]);
});

it("pages newest first, without repeating or missing an entry while others are written, and ends with a full page", async () => {
  const ids: string[] = [];
  for (let i = 0; i < 6; i += 1) ids.unshift(await record());
  // Entries of one millisecond are ordered by their ids.
  await served.db.query("update accounts.audit_entries set created_at = now() where brand_id = $1", [brand.id]);
  const seen: string[] = [];
  let token: string | null | undefined;
  do {
    const page = await list({ page_size: 2, ...(token != null && { page_token: token }) });
    seen.push(...idsOf(page));
    token = page.next_page_token;
    await record();
  } while (token != null);
  expect(seen).toEqual(ids.toSorted().toReversed());
});

it("lists entries of one millisecond in the order of their changes", async () => {
  const keys: string[] = [];
  // The clock stands still; everything else takes its time.
  await atDate(Date.now(), async () => {
    for (let i = 0; i < 5; i += 1) keys.push((await served.createKey(brand)).id);
  });
  await served.db.query("update accounts.audit_entries set created_at = now() where brand_id = $1", [brand.id]);
  expect((await list()).entries.map(({ subject_id }) => subject_id)).toEqual(keys.toReversed());
});

it("filters by person, action and time", async () => {
  const [member, operator, other] = [
    await record({ actor: "ana@example.ph" }),
    await record({ actor: null, action: "receiver.delete" }),
    await record({ actor: "zoe@example.ph" }),
  ];
  const ids = async (filter: Partial<ListAuditRequest>) => idsOf(await list(filter));
  expect(await ids({ actor: "ANA@example.ph" })).toEqual([member]);
  expect(await ids({ actor: "operator" })).toEqual([operator]);
  expect(await ids({ action: "receiver.delete" })).toEqual([operator]);
  expect(await ids({ action: "receiver" })).toEqual([other, operator, member]);
  expect(await ids({ action: "rece" })).toEqual([]);
  expect(await ids({ actor: "ana@example.ph", action: "receiver.delete" })).toEqual([]);
  await served.db.query("update accounts.audit_entries set created_at = '2026-01-01T00:00:00Z' where id = $1", [member]);
  await served.db.query("update accounts.audit_entries set created_at = '2026-01-02T00:00:00Z' where id = $1", [operator]);
  expect(await ids({ from: "2026-01-01T08:00:00+08:00", to: "2026-01-02T00:00:00Z" })).toEqual([member]);
  expect(await ids({ from: "2026-01-02T00:00:00Z" })).toEqual([other, operator]);
});

it("refuses a page token of another brand or filter, or made up", async () => {
  for (let i = 0; i < 2; i += 1) await record();
  const { next_page_token: token } = await list({ page_size: 1 });
  const theirs = await served.createBrand();
  const refused = [{ brand_id: theirs.id }, { actor: "operator" }, { action: "key.create" }, { from: "2026-01-01T00:00:00Z" }];
  for (const filter of refused) await expectRefusal(list({ ...filter, page_token: token }), "invalid_cursor");
  for (const page_token of ["", "x", "é", Buffer.from("1 0 0 0").toString("base64url"), `${token}A`])
    await expectRefusal(list({ page_token }), "invalid_cursor", "page_token");
});

it("refuses to list more than 200 entries a page, and those of what is not a person", async () => {
  await expectRefusal(list({ page_size: 201 }), "invalid_request", "page_size");
  const message = "actor must be an e-mail address, a pseudonym, or operator";
  await expect(list({ actor: "everyone" })).rejects.toMatchObject({ kind: "invalid_request", message });
});
