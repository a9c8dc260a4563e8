import type { AuditEntry } from "@brand-records/proto/accounts/v1";
import { believeClaims, claimed } from "../../test/claimed-identity.ts";
import { atDate, callContext, expectRefusal, servedAccounts, type ServedAccounts, type TestBrand } from "../../test/serve-accounts.ts";
import { peopleOf } from "../../test/people.ts";

/** What the audit log says of sign-ins and sign-outs. */

const client = { address: "203.0.113.7", browser: "Firefox" };
const from = (address: string) => ({ address, browser: "Safari" });
/** Tries to sign in that were counted. */
const counted: string[] = [];

const served = servedAccounts(() => ({ countSignIn: (by, outcome) => void counted.push(`${by}: ${outcome}`) }));
const people = peopleOf(served);
let brand: TestBrand;
let other: TestBrand;
/** A member of both brands. */
let person: string;
beforeEach(async () => {
  [brand, other] = [await served.createBrand(), await served.createBrand()];
  person = `lia@${brand.id.slice(4)}.example`;
  await people.addMember(other, brand.owner);
  for (const each of [brand, other]) await people.addMember(each, person);
  counted.length = 0;
});

const entriesOf = async ({ id }: TestBrand): Promise<AuditEntry[]> =>
  (await served.audit.listAudit({ brand_id: id, page_size: 0, action: "session" })).entries;
const redeem = (token: string, by: object = client) => served.signIn.redeemSignInLink({ token, client: by });
const sessionOf = async (token: string): Promise<string> => (await redeem(token)).session?.token ?? "";
/** The session's first call of a brand, or a later one. */
const open = (token: string, { id }: TestBrand, by = client) => served.sessions.getSession({ token, brand_id: id, client: by });
/** The context of a call in a session. */
const inSession = async (token: string) => ({ ...callContext(), grants: await people.grants(token, brand) });

it("has a sign-in once the session opens the brand, with that call's address and browser, and tells no other brand", async () => {
  const token = await sessionOf(await people.link(brand.owner));
  await served.sessions.getSession({ token, client });
  for (const one of [brand, other]) expect(await entriesOf(one)).toEqual([]);
  const entry = { action: "session.sign_in_with_link", outcome: "done", error_kind: null, tries: 1, request_id: "test", via: null };
  await Promise.all(["203.0.113.8", "203.0.113.8"].map((address) => open(token, brand, from(address))));
  await open(token, brand);
  const signedIn = { ...entry, actor: brand.owner, subject_id: brand.owner, ...from("203.0.113.8") };
  expect(await entriesOf(brand)).toEqual([expect.objectContaining(signedIn)]);
  expect(await entriesOf(other)).toEqual([]);
  expect(counted).toEqual(["link: done"]);
});

it("says whose link opened a session", async () => {
  await open(await sessionOf(await people.ownersLink(brand, person)), brand);
  expect(await entriesOf(brand)).toEqual([expect.objectContaining({ actor: person, via: brand.owner })]);
});

it("tells a stranger's brand nothing: neither of sessions that never open it nor of links and accounts that are refused", async () => {
  const stranger = await served.createBrand();
  await people.addMember(stranger, person);
  const link = await people.link(person);
  const token = await sessionOf(link);
  await open(token, brand);
  await expectRefusal(redeem(link), "sign_in_link_used");
  await served.sessions.endSession({ token, client });
  await served.sessions.endSessionsOf({ email: person });
  expect(await entriesOf(stranger)).toEqual([]);
  expect((await entriesOf(brand)).map(({ action, outcome }) => [action, outcome])).toEqual([
    ["session.sign_out", "done"],
    ["session.sign_in_with_link", "failed"],
    ["session.sign_in_with_link", "done"],
  ]);
});

it("is written beside a removal and a change of roles, and holds up neither", async () => {
  for (let round = 0; round < 10; round += 1) {
    const email = `eve${round}@${brand.id.slice(4)}.example`;
    await people.addMember(brand, email, "owner");
    const tokens = await Promise.all([people.session(email), people.session(email)]);
    const demoted = served.accounts.setMemberRole({ brand_id: brand.id, email, role: "member" });
    const settled = await Promise.allSettled([open(tokens[0], brand), demoted, open(tokens[1], brand), people.removeMember(brand, email)]);
    const kinds = settled.flatMap((each) => (each.status === "rejected" ? [(each.reason as { kind: string }).kind] : []));
    expect(kinds.filter((kind) => !["invalid_session", "not_found"].includes(kind))).toEqual([]);
  }
});

it("has no sign-out of a person who left the brand before", async () => {
  const token = await sessionOf(await people.link(person));
  await open(token, brand);
  await people.removeMember(brand, person);
  await served.sessions.endSession({ token, client });
  expect((await entriesOf(brand)).map(({ action }) => action)).toEqual(["session.sign_in_with_link"]);
});

it("has a session that accounts 1.0 began, and told every brand of, at its end alone", async () => {
  const token = await sessionOf(await people.link(person));
  await served.db.query("update accounts.sessions set told_everyone = true where email = $1", [person]);
  await open(token, brand);
  await served.sessions.endSession({ token, client });
  for (const one of [brand, other]) expect((await entriesOf(one)).map(({ action }) => action)).toEqual(["session.sign_out"]);
});

it("counts the refusals of a link in one entry, with the first one's time and the last one's address", async () => {
  const token = await people.link(brand.owner);
  await open(await sessionOf(token), brand);
  for (const address of ["203.0.113.8", "203.0.113.9"]) {
    await expectRefusal(redeem(token, from(address)), "sign_in_link_used");
    await expectRefusal(served.signIn.peekSignInLink({ token, client: from(address) }), "sign_in_link_used");
  }
  const [refused, done, ...more] = await entriesOf(brand);
  expect(more).toEqual([]);
  expect(refused).toMatchObject({ outcome: "failed", error_kind: "sign_in_link_used", tries: 4, ...from("203.0.113.9") });
  expect(Date.parse(refused?.finished_at ?? "")).toBeGreaterThanOrEqual(Date.parse(refused?.created_at ?? ""));
  expect(done).toMatchObject({ outcome: "done", tries: 1 });
  expect(counted).toEqual(["link: done", ...Array.from({ length: 4 }, () => "link: sign_in_link_used")]);
});

it("counts simultaneous refusals, and loses none", async () => {
  await open(await people.session(brand.owner), brand);
  const token = await people.link(brand.owner);
  await people.moveBack("sign_in_links", "expires_at", token, 3_600);
  await Promise.allSettled(Array.from({ length: 20 }, () => redeem(token)));
  expect((await entriesOf(brand))[0]).toMatchObject({ error_kind: "sign_in_link_expired", tries: 20 });
});

it("refuses a link for its own reason, also where the log takes no entry", async () => {
  const token = await people.link(brand.owner);
  await open(await sessionOf(token), brand);
  await served.db.query("alter table accounts.audit_entries add constraint full_up check (outcome = 'done') not valid");
  await expectRefusal(redeem(token), "sign_in_link_used");
  await expectRefusal(served.signIn.peekSignInLink({ token }), "sign_in_link_used");
  await served.db.query("alter table accounts.audit_entries drop constraint full_up");
});

it("writes nothing about an unknown link, which names no person, and counts it", async () => {
  for (const token of ["A".repeat(43), "short"]) await expectRefusal(redeem(token), "sign_in_link_unknown");
  expect(await entriesOf(brand)).toEqual([]);
  expect(counted).toEqual(["link: sign_in_link_unknown", "link: sign_in_link_unknown"]);
});

it("has a sign-out once, and none of a session that has ended", async () => {
  const token = await sessionOf(await people.link(brand.owner));
  await open(token, brand);
  for (let i = 0; i < 2; i += 1) await served.sessions.endSession({ token, client });
  const [signedOut, ...before] = await entriesOf(brand);
  expect(signedOut).toMatchObject({ action: "session.sign_out", actor: brand.owner, outcome: "done", ...client });
  expect(before.map(({ action }) => action)).toEqual(["session.sign_in_with_link"]);
});

it("has “sign out everywhere”, the person's and the operator's", async () => {
  const token = await sessionOf(await people.link(brand.owner));
  // By the grant, whatever the request names and leaves out.
  await served.sessions.endSessionsOf({ email: "other@ulap.example" }, await inSession(token));
  await expectRefusal(people.get(token), "invalid_session");
  await open(await people.session(brand.owner), brand);
  await served.sessions.endSessionsOf({ email: brand.owner });
  // None was left to end.
  await served.sessions.endSessionsOf({ email: brand.owner });
  const [byOperator, , byPerson] = await entriesOf(brand);
  expect(byPerson).toMatchObject({ action: "session.sign_out_everywhere", actor: brand.owner, subject_id: brand.owner });
  expect(byOperator).toMatchObject({ actor: null, subject_id: brand.owner, address: null, browser: null });
});

it("has “sign out everywhere” of a session that an owner's link opened in its brand alone, and ends no other", async () => {
  const limited = await sessionOf(await people.ownersLink(brand, person));
  const whole = await sessionOf(await people.link(person));
  await open(whole, other);
  await served.sessions.endSessionsOf({ email: person, client }, await inSession(limited));
  await expectRefusal(people.get(limited), "invalid_session");
  expect((await people.get(whole)).session?.email).toBe(person);
  expect((await entriesOf(brand))[0]).toMatchObject({ action: "session.sign_out_everywhere", via: brand.owner, ...client });
  expect((await entriesOf(other)).map(({ action }) => action)).toEqual(["session.sign_in_with_link"]);
});

it("is written with what opens the brand, or neither is", async () => {
  const token = await sessionOf(await people.link(brand.owner));
  await served.db.query("alter table accounts.audit_entries add constraint refuse check (action <> 'session.sign_in_with_link') not valid");
  await expectRefusal(open(token, brand), "internal_error");
  await served.db.query("alter table accounts.audit_entries drop constraint refuse");
  await open(token, brand);
  expect(await entriesOf(brand)).toHaveLength(1);
});

it("refuses an address or a browser that is none, and signs no one in", async () => {
  const token = await people.link(brand.owner);
  for (const wrong of [{ address: "somewhere" }, { browser: "x".repeat(41) }, { browser: "a\u0000b" }])
    await expectRefusal(redeem(token, wrong), "invalid_request");
  expect(await entriesOf(brand)).toEqual([]);
});

it("is exported with the person's data and erased with it: address, browser and name", async () => {
  const token = await sessionOf(await people.link(person));
  for (const each of [brand, other]) await open(token, each);
  const signedIn = (await people.exported(person)).audit_entries.filter(({ action }) => action === "session.sign_in_with_link");
  expect(signedIn).toEqual([brand, other].map(() => expect.objectContaining({ by: "person", ...client })));
  for (const each of [brand, other]) await people.removeMember(each, person);
  const pseudonym = await people.erase(person);
  expect((await entriesOf(brand))[0]).toMatchObject({ actor: pseudonym, subject_id: pseudonym, address: null, browser: null });
});

describe("an account at the provider that is refused because of another one", () => {
  let to: ServedAccounts;
  beforeAll(async () => {
    to = await served.alsoWith({ identify: believeClaims });
  });
  beforeEach(async () => {
    await people.removeMember(other, person);
    await signIn("own");
  });
  /** Signs in, and opens the brand. */
  const signIn = async (name: string, address = "203.0.113.7") => {
    const claims = { issuer: "https://id.example", subject: `${name}-of-${brand.id}`, email: person };
    const { session } = await to.signIn.signInWithIdentity({ ...claimed(claims), client: from(address) });
    await open(session?.token ?? "", brand);
  };
  const refuse = (address: string) => expectRefusal(signIn("other", address), "identity_conflict");
  const refusals = async () => (await entriesOf(brand)).filter(({ outcome }) => outcome === "failed");

  it("is one entry, which counts", async () => {
    for (const address of ["203.0.113.8", "203.0.113.9"]) await refuse(address);
    expect(await refusals()).toEqual([expect.objectContaining({ actor: person, tries: 2, ...from("203.0.113.9") })]);
  });

  it("is another entry when the person is a member again: that of the erased one stays as it is", async () => {
    await refuse("203.0.113.8");
    await people.removeMember(brand, person);
    const pseudonym = await people.erase(person);
    await people.addMember(brand, person);
    await signIn("new");
    await refuse("203.0.113.9");
    expect(await refusals()).toEqual([
      expect.objectContaining({ actor: person, tries: 1, ...from("203.0.113.9") }),
      expect.objectContaining({ actor: pseudonym, tries: 1, address: null, browser: null }),
    ]);
  });

  it("is another entry the next day, where it is found", async () => {
    await refuse("203.0.113.8");
    await atDate(Date.now() + 86_400_000, () => refuse("203.0.113.9"));
    expect((await refusals()).map(({ tries, address }) => [tries, address])).toEqual([
      [1, "203.0.113.9"],
      [1, "203.0.113.8"],
    ]);
  });
});
