import { randomUUID } from "node:crypto";
import { keyDigest } from "@brand-records/ids";
import { eventually } from "@brand-records/testkit";
import { believeClaims, claimed } from "../../test/claimed-identity.ts";
import { KeptEpochs, startTestRepublisher } from "../../test/kept-epochs.ts";
import { peopleOf } from "../../test/people.ts";
import { record } from "../../test/recorded-entry.ts";
import { callBehind, expectRefusal, servedAccounts, type TestBrand } from "../../test/serve-accounts.ts";
import { lockPerson } from "../storage/people.ts";
import { deleteSessionsOf } from "../storage/sessions.ts";

const epochs = new KeptEpochs();
const served = servedAccounts(() => ({ epochs, identify: believeClaims }));
const people = peopleOf(served);

const begin = ({ id }: TestBrand, resume = false) => served.operator.beginBrandDeletion({ brand_id: id, resume });
const finish = ({ id }: TestBrand) => served.operator.finishBrandDeletion({ brand_id: id });
const settle = ({ id }: TestBrand) =>
  served.db.query(
    "update accounts.audit_entries set created_at = created_at - interval '40 s' where brand_id = $1 and action = 'brand.delete'",
    [id],
  );
const expectNotFound = (call: Promise<unknown>) => expectRefusal(call, "not_found", "brand_id");

it("refuses the brand's keys, and answers as if there were no such brand, but in the list", async () => {
  const brand = await served.createBrand();
  const { secret } = await served.createKey(brand);
  const epoch = await served.epochOf(brand);
  const verify = () => served.verification.verifyKey({ key_sha256: keyDigest(secret) });
  await verify();
  expect(await begin(brand)).toMatchObject({ finished: false, settles_in_ms: expect.any(Number) });
  expect(epochs.published.get(brand.id)).toBeGreaterThan(epoch);
  await expectRefusal(verify(), "invalid_key");
  const { accounts } = served;
  const brand_id = brand.id;
  await expectNotFound(accounts.getBrand({ brand_id }));
  await expectNotFound(accounts.setBrandTier({ brand_id, tier: "pro" }));
  await expectNotFound(people.addMember(brand, "ana@ulap.example", "owner"));
  await expectNotFound(accounts.listMembers({ brand_id }));
  await expectNotFound(accounts.listKeys({ brand_id, ids: [] }));
  await expectNotFound(served.createKey(brand));
  await expectNotFound(served.audit.appendAudit({ brand_id, action: "receiver.create", fields: [], request_id: "r" }));
  expect(await accounts.listMemberships({ email: brand.owner })).toEqual({ memberships: [] });
  const { brands } = await accounts.listBrands({ page_size: 1_000 });
  expect(brands.find(({ id }) => id === brand_id)?.deletion_started_at).toEqual(expect.stringMatching(/Z$/));
  expect(await accounts.listDeletedBrands({ brand_ids: [brand_id, "brd_none"] })).toEqual({ brand_ids: [brand_id] });
});

it("tells gateways before and after it begins, and begins without Redis: what they cached expires before it has settled", async () => {
  const [brand, unpublished] = [await served.createBrand(), await served.createBrand()];
  const publications = ({ id }: TestBrand): number => epochs.tries.filter((each) => each === id).length;
  await begin(brand);
  await begin(brand);
  expect(publications(brand)).toBe(2);
  epochs.isUnavailable = true;
  expect((await begin(unpublished)).settles_in_ms).toBeGreaterThan(31_000);
  epochs.isUnavailable = false;
  expect(publications(unpublished)).toBe(2);
});

it("forgets people without another membership, and leaves the others signed in", async () => {
  const [brand, other] = [await served.createBrand(), await served.createBrand()];
  await people.addMember(brand, "shared@people.example");
  await people.addMember(other, "shared@people.example");
  const [gone, kept] = [await people.session(brand.owner), await people.session("shared@people.example")];
  const identity = claimed({ issuer: "https://id.example", subject: randomUUID(), email: brand.owner });
  await served.signIn.signInWithIdentity(identity);
  await begin(brand);
  await expectRefusal(people.get(gone), "invalid_session");
  expect((await people.get(kept)).memberships).toEqual([expect.objectContaining({ brand_id: other.id })]);
  for (const table of ["sessions", "sign_in_links", "identities"])
    expect(await served.db.query(`select from accounts.${table} where email = $1`, [brand.owner])).toEqual([]);
});

it("leaves nothing but one entry without a person, and the id is not used again", async () => {
  const [brand, other] = [await served.createBrand(), await served.createBrand()];
  const key = await served.createKey(brand);
  for (const each of [brand, other]) await record(served, each, { address: "192.0.2.1" });
  const minute = "date_trunc('minute', now(), 'UTC') - n * interval '1 minute'";
  for (const [table, columns, count] of [
    ["usage_minutes (brand_id, key_id, minute, accepted, refused)", `${minute}, 1, 0`, 5_000],
    ["usage_clients (brand_id, key_id, day, name, messages)", "current_date, 'client ' || n, 1", 2_500],
    [
      "failed_requests (brand_id, key_id, minute, route, code, field, requests, request_ids)",
      `${minute}, 'GET /api/v1/links', 'rate_limited', '', 1, '{}'`,
      2_500,
    ],
  ])
    await served.db.query(`insert into accounts.${table} select $1, $2, ${columns} from generate_series(1, $3::int) n`, [
      brand.id,
      key.id,
      count,
    ]);
  await served.db.query(
    "insert into accounts.recent_requests (brand_id, until, requests) select $1, n, '' from generate_series(1, 2_500) n",
    [brand.id],
  );
  await begin(brand);
  await expectRefusal(finish(brand), "request_conflict");
  await settle(brand);
  expect(await finish(brand)).toEqual({
    deleted: [
      { kind: "usage", rows: 5_000 },
      { kind: "usage by client", rows: 2_500 },
      { kind: "failed requests", rows: 2_500 },
      { kind: "recent requests", rows: 2_500 },
      { kind: "audit entries", rows: ["brand.create", "member.add", "key.create", "receiver.create"].length },
    ],
    done: true,
    redis_unavailable: false,
  });
  expect(epochs.published.has(brand.id)).toBe(false);
  const { entries } = await served.audit.listAudit({ brand_id: brand.id, page_size: 0 });
  const noPerson = { actor: null, via: null, address: null, browser: null, role: null, fields: [] };
  expect(entries).toEqual([expect.objectContaining({ action: "brand.delete", subject_id: brand.id, outcome: "done", ...noPerson })]);
  expect((await served.audit.listAudit({ brand_id: other.id, action: "receiver", page_size: 0 })).entries).toHaveLength(1);
  const again = { id: brand.id, name: "Tindahan", tier: "plus", verified: true };
  await expectRefusal(served.accounts.createBrand(again), "already_exists");
});

it("continues when it is repeated, at any point and twice at the same time", async () => {
  const brand = await served.createBrand();
  const [first, second] = await Promise.all([begin(brand), begin(brand)]);
  expect(second.started_at).toBe(first.started_at);
  expect(await begin(brand, true)).toMatchObject({ started_at: first.started_at, finished: false });
  await settle(brand);
  await Promise.all([finish(brand), finish(brand)]);
  expect(await begin(brand)).toMatchObject({ finished: true, settles_in_ms: 0 });
  expect(await finish(brand)).toMatchObject({ deleted: [], done: true });
});

it("does not begin for an unknown brand, nor if it may only continue", async () => {
  const brand = await served.createBrand();
  await expectNotFound(begin(brand, true));
  await expectNotFound(begin({ id: "brd_none", owner: "" }));
  await expectRefusal(finish(brand), "request_conflict");
  expect(await served.epochOf(brand)).toEqual(expect.any(Number));
});

it("says that Redis could not be reached, and publishes no epoch of a deletion that has settled", async () => {
  const [brand, fresh] = [await served.createBrand(), await served.createBrand()];
  await begin(brand);
  await settle(brand);
  await served.db.query("update accounts.brands set deletion_started_at = deletion_started_at - interval '40 s' where id = $1", [brand.id]);
  epochs.published.delete(brand.id);
  const republisher = startTestRepublisher(served.db, epochs);
  await served.createKey(fresh);
  await eventually(() => expect(epochs.published.has(fresh.id)).toBe(true));
  await republisher.stop();
  expect(epochs.published.has(brand.id)).toBe(false);
  epochs.isUnavailable = true;
  expect(await finish(brand)).toMatchObject({ done: true, redis_unavailable: true });
  epochs.isUnavailable = false;
});

it("waits for whatever ends a member's sessions, and neither fails", async () => {
  const { brand, email } = await people.newPerson();
  await people.open(await people.ownersLink(brand, email));
  const { done } = await callBehind(
    served.db,
    (sql) => lockPerson(sql, email),
    () => begin(brand),
    async (sql) => expect(await deleteSessionsOf(sql, email)).toHaveLength(1),
  );
  expect(done).toMatchObject([{ finished: false }]);
});
