import { randomUUID } from "node:crypto";
import { TestIssuer } from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import { openIdentify } from "../id-tokens/identify.ts";
import { expectRefusal, serveAccounts, type ServedAccounts, untilWaiting } from "../../test/serve-accounts.ts";
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
  await expectRefusal(people.redeem(token), "sign_in_link_used");
});

it("a session shows the person's brands as they are now, and ends with the last of them", async () => {
  const { brand, email } = await people.newPerson();
  const token = await people.session(email);
  expect((await people.get(token)).memberships).toMatchObject([{ brand_id: brand.id, role: "member" }]);
  await people.addMember(brand, email, "owner");
  expect((await people.get(token)).memberships).toMatchObject([{ brand_id: brand.id, role: "owner" }]);
  await people.removeMember(brand, email);
  await expectRefusal(people.get(token), "invalid_session");
});

it("a session ends when it is not used, and when it is ended", async () => {
  const { email } = await people.newPerson();
  const [idle, ended] = [await people.session(email), await people.session(email)];
  await people.moveBack("sessions", "last_used_at", idle, 7_200);
  await people.end(ended);
  for (const token of [idle, ended]) await expectRefusal(people.get(token), "invalid_session");
});

it("an identity signs in the member it was bound to with a verified address, and no one else", async () => {
  const { email } = await people.newPerson();
  const sub = newId("sub");
  const signIn = async (claims: { sub?: string; email?: string; email_verified?: boolean }) =>
    served.signIn.signInWithIdentity(await provider.request({ sub, email, ...claims }));
  await expectRefusal(signIn({ email_verified: false }), "email_not_verified");
  await expectRefusal(signIn({ email: "stranger@example.ph" }), "no_membership");
  expect((await signIn({})).session).toMatchObject({ email });
  await expectRefusal(signIn({ sub: newId("sub") }), "identity_conflict");
  expect((await signIn({ email: "ana@elsewhere.example" })).session).toMatchObject({ email });
});

it("the audit log has an entry before a change and its outcome after it, for its brand alone", async () => {
  const [brand, theirs] = [await served.createBrand(), await served.createBrand()];
  const request = { brand_id: brand.id, actor: brand.owner, action: "key.create", fields: ["name"], request_id: "r", address: "::1" };
  const { entry } = await served.audit.appendAudit(request);
  const finish = (brand_id: string) =>
    served.audit.finishAudit({ brand_id, entry_id: entry?.id ?? "", outcome: "done", subject_id: "key_1" });
  await expectRefusal(finish(theirs.id), "not_found");
  await finish(brand.id);
  const { entries } = await served.audit.listAudit({ brand_id: brand.id, page_size: 0 });
  expect(entries).toMatchObject([{ ...request, outcome: "done", subject_id: "key_1" }]);
});

it("usage adds up counts of several gateways, each batch once", async () => {
  const brand = await served.createBrand();
  const { id: key_id } = await served.createKey(brand);
  const minute = new Date().toISOString();
  const record = (batch_id: string) =>
    served.usage.recordUsage({
      batch_id,
      minutes: [{ brand_id: brand.id, key_id, minute, accepted: 5, refused: 2 }],
      clients: [],
      failures: [],
    });
  const batch = randomUUID();
  expect(await Promise.all([record(batch), record(batch), record(randomUUID())])).toContainEqual({ recorded: false });
  const range = { from: new Date(Date.now() - 60_000).toISOString(), to: new Date(Date.now() + 60_000).toISOString() };
  const { buckets } = await served.usage.getUsage({ brand_id: brand.id, ...range, bucket_minutes: 60, by_key: true, by_client: false });
  expect(buckets).toMatchObject([{ key_id, accepted: 10, refused: 4 }]);
});

it("no link is made while its person is removed from the last brand: it could sign in another human later", async () => {
  const { brand, email } = await people.newPerson();
  const { made } = await served.db.transaction(async (sql) => {
    await lockPerson(sql, email);
    await deleteMember(sql, brand.id, email);
    await deleteLinksOf(sql, email);
    const making = Promise.allSettled([people.link(email)]);
    await untilWaiting(served.db);
    return { made: making };
  });
  expect(await made).toEqual([{ status: "rejected", reason: expect.objectContaining({ kind: "no_membership" }) }]);
});

it("an identity that is unlinked during its sign-in is no conflict: the person tries again, and the audit log has no refusal", async () => {
  const { brand, email } = await people.newPerson();
  const claims = { sub: newId("sub"), email };
  const signIn = async () => served.signIn.signInWithIdentity(await provider.request(claims));
  await signIn();
  const { signedIn } = await served.db.transaction(async (sql) => {
    await lockPerson(sql, email);
    const signingIn = Promise.allSettled([signIn()]);
    await untilWaiting(served.db);
    await deleteIdentitiesOf(sql, email);
    return { signedIn: signingIn };
  });
  expect(await signedIn).toEqual([{ status: "rejected", reason: expect.objectContaining({ kind: "unavailable" }) }]);
  const { entries } = await served.audit.listAudit({ brand_id: brand.id, action: "session", page_size: 0 });
  expect(entries.map(({ outcome }) => outcome)).toEqual(["done"]);
  expect((await signIn()).session).toMatchObject({ email });
});
