import { TestIssuer, type TestClaims } from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import { deleteIdentitiesOf } from "../storage/identities.ts";
import { lockPerson } from "../storage/people.ts";
import { openIdentify } from "../id-tokens/identify.ts";
import { callBehind, expectRefusal, servedAccounts, settled } from "../../test/serve-accounts.ts";
import { peopleOf } from "../../test/people.ts";

let provider: TestIssuer;
beforeAll(async () => {
  provider = await TestIssuer.start();
});
const served = servedAccounts(() => ({ identify: openIdentify(provider.settings) }));
const people = peopleOf(served);
afterAll(() => provider.stop());

const newSubject = (): string => newId("sub");
/** Signs in with a token of the provider that has these claims. */
const signIn = async (claims: TestClaims, { to = served, by = provider } = {}) =>
  (await to.signIn.signInWithIdentity(await by.request(claims))).session;
/** A process of an installation that trusts the addresses of an issuer that omits `email_verified`. */
const trusting = () => served.alsoWith({ identify: openIdentify({ ...provider.settings, OIDC_TRUST_EMAIL: "true" }) });
const boundTo = async (email: string): Promise<string[]> =>
  (await served.db.query<{ subject: string }>("select subject from accounts.identities where email = $1", [email])).map(
    ({ subject }) => subject,
  );

it("binds an identity with a verified address to its person, whatever the case of the address", async () => {
  const { email } = await people.newPerson();
  const subject = newSubject();
  const session = await signIn({ sub: subject, email: email.toUpperCase() });
  expect(session?.email).toBe(email);
  expect((await people.get(session?.token ?? "")).session).toMatchObject({ email, issuer: provider.issuer });
  expect(await boundTo(email)).toEqual([subject]);
});

it("knows a bound person again, whatever address the provider sends, verified or not", async () => {
  const [{ email }, other] = [await people.newPerson(), await people.newPerson()];
  const subject = newSubject();
  await signIn({ sub: subject, email });
  for (const claims of [
    { email: "ana@elsewhere.example" },
    { email: other.email },
    { email: null, email_verified: null },
    { email, email_verified: false },
    { email: "not an address" },
  ]) {
    expect((await signIn({ sub: subject, ...claims }))?.email).toBe(email);
  }
});

it.each([
  ["false", false, false],
  ["false, whatever the operator trusts", false, true],
  ["a text", "true", true],
  ["absent", null, false],
])("refuses an unbound identity whose email_verified is %s, the same for members and strangers", async (_, email_verified, trusts) => {
  const { email } = await people.newPerson();
  const to = trusts ? await trusting() : served;
  for (const address of [email, "stranger@example.ph"])
    await expectRefusal(signIn({ email: address, email_verified }, { to }), "email_not_verified");
  expect(await boundTo(email)).toEqual([]);
});

it("refuses an unbound identity without an address", async () => {
  for (const email of [null, ""]) await expectRefusal(signIn({ email }, { to: await trusting() }), "email_not_verified");
});

it("trusts the address of an issuer that omits email_verified, where the operator says so", async () => {
  const { email } = await people.newPerson();
  expect((await signIn({ email, email_verified: null }, { to: await trusting() }))?.email).toBe(email);
});

it("makes no one a member", async () => {
  for (const email of ["stranger@example.ph", "not an address", "ana@exämple.ph"]) await expectRefusal(signIn({ email }), "no_membership");
  expect(await boundTo("stranger@example.ph")).toEqual([]);
});

it("refuses another identity of the issuer with the person's address, and accepts one of another issuer", async () => {
  const { email } = await people.newPerson();
  const subject = newSubject();
  await signIn({ sub: subject, email });
  await expectRefusal(signIn({ email }), "identity_conflict");
  const by = await TestIssuer.start();
  const to = await served.alsoWith({ identify: openIdentify(by.settings) });
  expect((await signIn({ sub: newSubject(), email }, { to, by }))?.email).toBe(email);
  await by.stop();
  expect((await signIn({ sub: subject, email }))?.email).toBe(email);
});

it("takes a subject exactly as it is", async () => {
  const { email } = await people.newPerson();
  const subject = newSubject();
  await signIn({ sub: subject, email });
  for (const similar of [{ sub: subject.toUpperCase() }, { sub: `${subject}0` }])
    await expectRefusal(signIn({ email, ...similar }), "identity_conflict");
  for (const broken of [{ sub: "" }, { sub: "a b" }, { sub: "x".repeat(256) }])
    await expectRefusal(signIn({ email, ...broken }), "invalid_request");
});

it("forgets a person's identities with the last membership: the address may be another human's later", async () => {
  const { brand, email } = await people.newPerson();
  const [first, second] = [newSubject(), newSubject()];
  await signIn({ sub: first, email });
  await people.removeMember(brand, email);
  await expectRefusal(signIn({ sub: first, email }), "no_membership");
  await people.addMember(brand, email);
  expect((await signIn({ sub: second, email }))?.email).toBe(email);
  await expectRefusal(signIn({ sub: first, email }), "identity_conflict");
});

it("keeps a person's identities while any membership is left", async () => {
  const { brand, email } = await people.newPerson();
  await people.addMember(await served.createBrand(), email);
  const subject = newSubject();
  await signIn({ sub: subject, email });
  await people.removeMember(brand, email);
  expect(await boundTo(email)).toEqual([subject]);
});

it("unlinks a person's identities, ends the sessions and deletes the unused links", async () => {
  const { email } = await people.newPerson();
  const [first, second] = [newSubject(), newSubject()];
  const token = (await signIn({ sub: first, email }))?.token ?? "";
  const link = await people.link(email);
  const unlink = () => served.signIn.unlinkIdentities({ email: email.toUpperCase() });
  expect([await unlink(), await unlink()]).toEqual([{ unlinked: 1 }, { unlinked: 0 }]);
  await expectRefusal(people.get(token), "invalid_session");
  await expectRefusal(people.redeem(link), "sign_in_link_unknown");
  expect((await signIn({ sub: second, email }))?.email).toBe(email);
  await expectRefusal(signIn({ sub: first, email }), "identity_conflict");
});

it("says in the logs of the brands that a person has opened what the operator does about sign-ins; before the first, in all", async () => {
  const { brand, email } = await people.newPerson();
  const other = await served.createBrand();
  await people.addMember(other, email);
  const entriesOf = async ({ id: brand_id }: typeof brand) => {
    const { entries } = await served.audit.listAudit({ brand_id, page_size: 0 });
    return entries.filter(({ subject_id, action }) => subject_id === email && !action.startsWith("member")).map(({ action }) => action);
  };
  await signIn({ sub: newSubject(), email });
  await people.link(email);
  await served.signIn.unlinkIdentities({ email });
  const before = ["identity.unlink", "sign_in_link.create"];
  for (const each of [brand, other]) expect(await entriesOf(each)).toEqual(before);

  const token = (await signIn({ sub: newSubject(), email }))?.token ?? "";
  await served.sessions.getSession({ token, brand_id: brand.id });
  await people.link(email);
  await served.signIn.unlinkIdentities({ email });
  expect(await entriesOf(brand)).toEqual(["identity.unlink", "sign_in_link.create", "session.sign_in_with_provider", ...before]);
  expect(await entriesOf(other)).toEqual(before);
});

it("unlinks nothing of an address that is not a member's", async () => {
  await expectRefusal(served.signIn.unlinkIdentities({ email: "stranger@example.ph" }), "no_membership");
});

it("binds one of several identities that sign in for the first time at once, by two processes", async () => {
  const other = await served.alsoWith({});
  for (let round = 0; round < 5; round += 1) {
    const { email } = await people.newPerson();
    const subjects = Array.from({ length: 6 }, newSubject);
    const { refused } = await settled(subjects.map((sub, i) => signIn({ sub, email }, { to: i % 2 === 0 ? served : other })));
    expect(refused).toEqual(Array(5).fill("identity_conflict"));
    expect(await boundTo(email)).toHaveLength(1);
  }
});

it("signs one identity in any number of times at once", async () => {
  const { email } = await people.newPerson();
  const subject = newSubject();
  const sessions = await Promise.all(Array.from({ length: 6 }, () => signIn({ sub: subject, email })));
  expect(new Set(sessions.map((session) => session?.token)).size).toBe(6);
  expect(await boundTo(email)).toEqual([subject]);
});

it("never signs in as two people when one identity comes with two addresses at once", async () => {
  for (let round = 0; round < 5; round += 1) {
    const [one, two] = [await people.newPerson(), await people.newPerson()];
    const subject = newSubject();
    await Promise.allSettled([signIn({ sub: subject, email: one.email }), signIn({ sub: subject, email: two.email })]);
    const rows = await served.db.query("select distinct email from accounts.sessions where email = any($1)", [[one.email, two.email]]);
    expect(rows).toHaveLength(1);
  }
});

it("is no conflict when it is unlinked during its sign-in: the person tries again, and the audit log has no refusal", async () => {
  const { brand, email } = await people.newPerson();
  const sub = newSubject();
  // A brand's log tells of a person who has opened it.
  await people.grants((await signIn({ sub, email }))?.token ?? "", brand);
  const { refused } = await callBehind(
    served.db,
    (sql) => lockPerson(sql, email),
    () => signIn({ sub, email }),
    (sql) => deleteIdentitiesOf(sql, email),
  );
  expect(refused).toEqual(["unavailable"]);
  const { entries } = await served.audit.listAudit({ brand_id: brand.id, action: "session", page_size: 0 });
  expect(entries.map(({ outcome }) => outcome)).toEqual(["done"]);
  expect(await signIn({ sub, email })).toMatchObject({ email });
});
