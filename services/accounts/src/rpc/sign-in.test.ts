import { randomUUID } from "node:crypto";
import { eventually, TestIssuer } from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import { openIdentify } from "../id-tokens/identify.ts";
import { callContext, serveAccounts, type ServedAccounts } from "../../test/serve-accounts.ts";
import { peopleOf } from "../../test/people.ts";
import { deleteIdentitiesOf } from "../storage/identities.ts";
import { deleteMember } from "../storage/members.ts";
import { lockPerson } from "../storage/people.ts";
import { deleteLinksOf } from "../storage/sign-in-links.ts";

/** The promises of sessions, sign-in links, identities, the audit log and usage in short; each has a full test of its own. */

let served: ServedAccounts;
let people: ReturnType<typeof peopleOf>;
let provider: TestIssuer;
beforeAll(async () => {
  provider = await TestIssuer.start();
  served = await serveAccounts({ identify: openIdentify(provider.settings) });
  people = peopleOf(served);
});
afterAll(async () => {
  await served.stop();
  await provider.stop();
});

it("a link signs its person in once, also when it is redeemed several times at once", async () => {
  const { email } = await people.newPerson();
  const token = await people.link(email);
  expect(await people.peek(token)).toMatchObject({ email });
  const outcomes = await Promise.allSettled(Array.from({ length: 4 }, () => people.redeem(token)));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  await expect(people.redeem(token)).rejects.toMatchObject({ kind: "sign_in_link_used" });
});

it("a session shows the person's brands as they are now, and ends with the last of them", async () => {
  const { brand, email } = await people.newPerson();
  const token = await people.session(email);
  expect((await people.get(token)).memberships).toMatchObject([{ brand_id: brand.id, role: "member" }]);
  await people.addMember(brand, email, "owner");
  expect((await people.get(token)).memberships).toMatchObject([{ brand_id: brand.id, role: "owner" }]);
  await people.removeMember(brand, email);
  await expect(people.get(token)).rejects.toMatchObject({ kind: "invalid_session" });
});

it("a session ends when it is not used, and when it is ended", async () => {
  const { email } = await people.newPerson();
  const [idle, ended] = [await people.session(email), await people.session(email)];
  await people.moveBack("sessions", "last_used_at", idle, 7_200);
  await people.end(ended);
  for (const token of [idle, ended]) await expect(people.get(token)).rejects.toMatchObject({ kind: "invalid_session" });
});

it("an identity signs in the member it was bound to with a verified address, and no one else", async () => {
  const { email } = await people.newPerson();
  const sub = newId("sub");
  const signIn = async (claims: { sub?: string; email?: string; email_verified?: boolean }) =>
    served.signIn.signInWithIdentity(await provider.request({ sub, email, ...claims }), callContext());
  await expect(signIn({ email_verified: false })).rejects.toMatchObject({ kind: "email_not_verified" });
  await expect(signIn({ email: "stranger@example.ph" })).rejects.toMatchObject({ kind: "no_membership" });
  expect((await signIn({})).session).toMatchObject({ email });
  await expect(signIn({ sub: newId("sub") })).rejects.toMatchObject({ kind: "identity_conflict" });
  expect((await signIn({ email: "ana@elsewhere.example" })).session).toMatchObject({ email });
});

it("the audit log has an entry before a change and its outcome after it, for its brand alone", async () => {
  const [brand, theirs] = [await served.createBrand(), await served.createBrand()];
  const request = { brand_id: brand.id, actor: brand.owner, action: "key.create", fields: ["name"], request_id: "r", address: "::1" };
  const { entry } = await served.audit.appendAudit(request, callContext());
  const finish = (brand_id: string) =>
    served.audit.finishAudit({ brand_id, entry_id: entry?.id ?? "", outcome: "done", subject_id: "key_1" }, callContext());
  await expect(finish(theirs.id)).rejects.toMatchObject({ kind: "not_found" });
  await finish(brand.id);
  const { entries } = await served.audit.listAudit({ brand_id: brand.id, page_size: 0 }, callContext());
  expect(entries).toMatchObject([{ ...request, outcome: "done", subject_id: "key_1" }]);
});

it("usage adds up counts of several gateways, each batch once", async () => {
  const brand = await served.createBrand();
  const { id: key_id } = await served.createKey(brand);
  const minute = new Date().toISOString();
  const record = (batch_id: string) =>
    served.usage.recordUsage(
      { batch_id, minutes: [{ brand_id: brand.id, key_id, minute, accepted: 5, refused: 2 }], clients: [], failures: [] },
      callContext(),
    );
  const batch = randomUUID();
  expect(await Promise.all([record(batch), record(batch), record(randomUUID())])).toContainEqual({ recorded: false });
  const range = { from: new Date(Date.now() - 60_000).toISOString(), to: new Date(Date.now() + 60_000).toISOString() };
  const { buckets } = await served.usage.getUsage(
    { brand_id: brand.id, ...range, bucket_minutes: 60, by_key: true, by_client: false },
    callContext(),
  );
  expect(buckets).toMatchObject([{ key_id, accepted: 10, refused: 4 }]);
});

/** Waits until a call waits for a lock. */
const untilWaiting = () =>
  eventually(async () => {
    const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    expect(await served.db.query(waiting)).toHaveLength(1);
  });

it("no link is made while its person is removed from the last brand: it could sign in another human later", async () => {
  const { brand, email } = await people.newPerson();
  const { made } = await served.db.transaction(async (sql) => {
    await lockPerson(sql, email);
    await deleteMember(sql, brand.id, email);
    await deleteLinksOf(sql, email);
    const making = Promise.allSettled([people.link(email)]);
    await untilWaiting();
    return { made: making };
  });
  expect(await made).toEqual([{ status: "rejected", reason: expect.objectContaining({ kind: "no_membership" }) }]);
});

it("an identity that is unlinked during its sign-in is no conflict: the person tries again, and the audit log has no refusal", async () => {
  const { brand, email } = await people.newPerson();
  const claims = { sub: newId("sub"), email };
  const signIn = async () => served.signIn.signInWithIdentity(await provider.request(claims), callContext());
  await signIn();
  const { signedIn } = await served.db.transaction(async (sql) => {
    await lockPerson(sql, email);
    const signingIn = Promise.allSettled([signIn()]);
    await untilWaiting();
    await deleteIdentitiesOf(sql, email);
    return { signedIn: signingIn };
  });
  expect(await signedIn).toEqual([{ status: "rejected", reason: expect.objectContaining({ kind: "unavailable" }) }]);
  const { entries } = await served.audit.listAudit({ brand_id: brand.id, action: "session", page_size: 0 }, callContext());
  expect(entries.map(({ outcome }) => outcome)).toEqual(["done"]);
  expect((await signIn()).session).toMatchObject({ email });
});
