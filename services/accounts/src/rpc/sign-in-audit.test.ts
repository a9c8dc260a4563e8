import type { AuditEntry } from "@brand-records/proto/accounts/v1";
import { believeClaims, claimed } from "../../test/claimed-identity.ts";
import { callContext, expectRefusal, servedAccounts, type ServedAccounts, type TestBrand } from "../../test/serve-accounts.ts";
import { peopleOf } from "../../test/people.ts";

/** What the audit log says of sign-ins and sign-outs. */

const client = { address: "203.0.113.7", browser: "Firefox" };
/** Timers of which only the date is another. */
const REAL_BUT_DATE: Parameters<typeof jest.useFakeTimers>[0] = {
  doNotFake: [
    "setTimeout",
    "clearTimeout",
    "setInterval",
    "clearInterval",
    "setImmediate",
    "clearImmediate",
    "nextTick",
    "queueMicrotask",
    "performance",
    "hrtime",
  ],
};
/** Tries to sign in that were counted. */
const counted: string[] = [];

const served = servedAccounts(() => ({ countSignIn: (by, outcome) => void counted.push(`${by}: ${outcome}`) }));
const people = peopleOf(served);
let brand: TestBrand;
let other: TestBrand;
beforeEach(async () => {
  [brand, other] = [await served.createBrand(), await served.createBrand()];
  await people.addMember(other, brand.owner);
  counted.length = 0;
});

const entriesOf = async ({ id }: TestBrand): Promise<AuditEntry[]> =>
  (await served.audit.listAudit({ brand_id: id, page_size: 0, action: "session" })).entries;
const redeem = (token: string) => served.signIn.redeemSignInLink({ token, client });
const sessionOf = async (token: string): Promise<string> => (await redeem(token)).session?.token ?? "";

it("has a redeemed link, in each brand that the session opens, with address and browser", async () => {
  await redeem(await people.link(brand.owner));
  for (const one of [brand, other]) {
    expect(await entriesOf(one)).toEqual([
      expect.objectContaining({
        action: "session.sign_in_with_link",
        actor: brand.owner,
        subject_id: brand.owner,
        via: null,
        outcome: "done",
        error_kind: null,
        tries: 1,
        request_id: "test",
        ...client,
      }),
    ]);
  }
  expect(counted).toEqual(["link: done"]);
});

it("has an owner's link in its brand alone, and says whose it was", async () => {
  const [person] = [`lia@${brand.id.slice(4)}.example`];
  await people.addMember(brand, person);
  await people.addMember(other, person);
  const request = { email: person, ttl_seconds: 0, brand_id: brand.id, acting_member: brand.owner };
  const { token } = await served.signIn.createSignInLink(request);
  await redeem(token);
  expect(await entriesOf(brand)).toEqual([expect.objectContaining({ actor: person, via: brand.owner })]);
  expect(await entriesOf(other)).toEqual([]);
});

it("counts the refusals of a link in one entry, with the first one's time and the last one's address", async () => {
  const token = await people.link(brand.owner);
  await redeem(token);
  for (const address of ["203.0.113.8", "203.0.113.9"]) {
    const late = { token, client: { address, browser: "Safari" } };
    await expectRefusal(served.signIn.redeemSignInLink(late), "sign_in_link_used");
    await expectRefusal(served.signIn.peekSignInLink(late), "sign_in_link_used");
  }
  const [refused, done, ...more] = await entriesOf(brand);
  expect(more).toEqual([]);
  expect(refused).toMatchObject({
    outcome: "failed",
    error_kind: "sign_in_link_used",
    tries: 4,
    address: "203.0.113.9",
    browser: "Safari",
  });
  expect(Date.parse(refused?.finished_at ?? "")).toBeGreaterThanOrEqual(Date.parse(refused?.created_at ?? ""));
  expect(done).toMatchObject({ outcome: "done", tries: 1 });
  expect(counted).toEqual(["link: done", ...Array.from({ length: 4 }, () => "link: sign_in_link_used")]);
});

it("counts simultaneous refusals, and loses none", async () => {
  const token = await people.link(brand.owner);
  await people.moveBack("sign_in_links", "expires_at", token, 3_600);
  await Promise.allSettled(Array.from({ length: 20 }, () => redeem(token)));
  expect(await entriesOf(brand)).toEqual([expect.objectContaining({ error_kind: "sign_in_link_expired", tries: 20 })]);
});

it("writes nothing about an unknown link, which names no person, and counts it", async () => {
  await expectRefusal(redeem("A".repeat(43)), "sign_in_link_unknown");
  await expectRefusal(redeem("short"), "sign_in_link_unknown");
  expect(await entriesOf(brand)).toEqual([]);
  expect(counted).toEqual(["link: sign_in_link_unknown", "link: sign_in_link_unknown"]);
});

it("has a sign-out once, and none of a session that has ended", async () => {
  const token = await sessionOf(await people.link(brand.owner));
  for (let i = 0; i < 2; i += 1) await served.sessions.endSession({ token, client });
  const [signedOut, ...before] = await entriesOf(brand);
  expect(signedOut).toMatchObject({ action: "session.sign_out", actor: brand.owner, outcome: "done", ...client });
  expect(before.map(({ action }) => action)).toEqual(["session.sign_in_with_link"]);
});

it("has “sign out everywhere”, the person's and the operator's", async () => {
  const token = await sessionOf(await people.link(brand.owner));
  const { grants } = await served.sessions.getSession({ token, with_grants: true, brand_id: brand.id });
  // By the grant, whatever the request names and leaves out.
  await served.sessions.endSessionsOf({ email: "other@ulap.example" }, { ...callContext(), grants });
  await expectRefusal(people.get(token), "invalid_session");
  await served.sessions.endSessionsOf({ email: brand.owner });
  const [byOperator, byPerson] = await entriesOf(brand);
  expect(byPerson).toMatchObject({ action: "session.sign_out_everywhere", actor: brand.owner, subject_id: brand.owner });
  expect(byOperator).toMatchObject({ actor: null, subject_id: brand.owner, address: null, browser: null });
});

it("has “sign out everywhere” of a session that an owner's link opened in its brand alone, and ends no other", async () => {
  const person = `lia@${brand.id.slice(4)}.example`;
  await people.addMember(brand, person);
  await people.addMember(other, person);
  const request = { email: person, ttl_seconds: 0, brand_id: brand.id, acting_member: brand.owner };
  const limited = await sessionOf((await served.signIn.createSignInLink(request)).token);
  const whole = await sessionOf(await people.link(person));
  const { grants } = await served.sessions.getSession({ token: limited, with_grants: true, brand_id: brand.id });
  await served.sessions.endSessionsOf({ email: person, client }, { ...callContext(), grants });
  await expectRefusal(people.get(limited), "invalid_session");
  expect((await people.get(whole)).session?.email).toBe(person);
  expect((await entriesOf(brand))[0]).toMatchObject({ action: "session.sign_out_everywhere", via: brand.owner, ...client });
  expect((await entriesOf(other)).map(({ action }) => action)).toEqual(["session.sign_in_with_link"]);
});

it("takes no entry of a member about what only the operator, accounts or an owner does", async () => {
  const member = `mara@${brand.id.slice(4)}.example`;
  await people.addMember(brand, member);
  const as = async (email: string) => {
    const token = await sessionOf(await people.link(email));
    const { grants } = await served.sessions.getSession({ token, with_grants: true, brand_id: brand.id });
    return { ...callContext(), grants };
  };
  const entryOf = (action: string) => ({ brand_id: brand.id, action, subject_id: "x", fields: [], request_id: "r" });
  const [owner, plain] = [await as(brand.owner), await as(member)];
  for (const action of ["identity.unlink", "person.erase", "session.sign_out", "sign_in_link.create", "brand.set_tier", "brand.delete"]) {
    await expectRefusal(served.audit.appendAudit(entryOf(action), owner), "invalid_request");
  }
  for (const action of ["key.revoke", "member.add", "member.set_role", "member.remove"]) {
    await expectRefusal(served.audit.appendAudit(entryOf(action), plain), "owner_required");
    expect((await served.audit.appendAudit(entryOf(action), owner)).entry).toMatchObject({ actor: brand.owner });
  }
  for (const action of ["member.leave", "plan.update"])
    expect((await served.audit.appendAudit(entryOf(action), plain)).entry).toMatchObject({ actor: member });
});

it("is written with the session, or neither is", async () => {
  const link = await people.link(brand.owner);
  await served.db.query("alter table accounts.audit_entries add constraint refuse check (action <> 'session.sign_in_with_link') not valid");
  await expectRefusal(redeem(link), "internal_error");
  await served.db.query("alter table accounts.audit_entries drop constraint refuse");
  expect(await served.db.query("select from accounts.sessions where email = $1", [brand.owner])).toEqual([]);
  await redeem(link);
  expect(await entriesOf(brand)).toHaveLength(1);
});

it("refuses an address or a browser that is none, and signs no one in", async () => {
  const token = await people.link(brand.owner);
  for (const wrong of [{ address: "somewhere" }, { browser: "x".repeat(41) }, { browser: "a\u0000b" }]) {
    await expectRefusal(served.signIn.redeemSignInLink({ token, client: wrong }), "invalid_request");
  }
  expect(await entriesOf(brand)).toEqual([]);
});

it("selects one action, or all of a kind", async () => {
  await redeem(await people.link(brand.owner));
  const actionsOf = async (action: string): Promise<string[]> =>
    (await served.audit.listAudit({ brand_id: brand.id, page_size: 0, action })).entries.map((entry) => entry.action);
  expect(await actionsOf("session")).toEqual(["session.sign_in_with_link"]);
  expect(await actionsOf("sign_in_link")).toEqual(["sign_in_link.create"]);
  expect(await actionsOf("session.sign_in_with_link")).toEqual(["session.sign_in_with_link"]);
  expect(await actionsOf("sess")).toEqual([]);
});

it("is exported with the person's data and erased with it: address, browser and name", async () => {
  const person = `mara@${brand.id.slice(4)}.example`;
  await people.addMember(brand, person);
  await redeem(await people.link(person));
  const exported = async () => (await allRecords(person)).filter(({ action }) => action === "session.sign_in_with_link");
  expect(await exported()).toEqual([expect.objectContaining({ by: "person", ...client })]);
  await people.removeMember(brand, person);
  const { pseudonym } = await served.operator.beginErasure({ email: person });
  await served.db.query("update accounts.erasures set begun_at = begun_at - interval '1 hour' where email = $1", [person]);
  await served.operator.erasePerson({ email: person, brand_ids: [] });
  const [entry] = await entriesOf(brand);
  expect(entry).toMatchObject({ actor: pseudonym, subject_id: pseudonym, address: null, browser: null });
});

async function allRecords(email: string) {
  const entries = [];
  let page_token: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof served.operator.exportPerson>> = await served.operator.exportPerson({
      email,
      page_size: 0,
      page_token,
    });
    entries.push(...page.audit_entries);
    page_token = page.next_page_token ?? null;
  } while (page_token !== null);
  return entries;
}

describe("an account at the provider that is refused because of another one", () => {
  const issuer = "https://id.example";
  const from = (address: string) => ({ address, browser: "Safari" });
  let person: string;
  let to: ServedAccounts;
  beforeAll(async () => {
    to = await served.alsoWith({ identify: believeClaims });
  });
  beforeEach(async () => {
    person = `mara@${brand.id.slice(4)}.example`;
    await people.addMember(brand, person);
    await signIn("own");
  });
  const signIn = (name: string, address = "203.0.113.7") =>
    to.signIn.signInWithIdentity({
      ...claimed({ issuer, subject: `${name} of ${brand.id}`.replaceAll(" ", "-"), email: person }),
      client: from(address),
    });
  const refuse = (address: string) => expectRefusal(signIn("other", address), "identity_conflict");
  const refusals = async () => (await entriesOf(brand)).filter(({ outcome }) => outcome === "failed");

  it("is one entry, which counts", async () => {
    for (const address of ["203.0.113.8", "203.0.113.9"]) await refuse(address);
    expect(await refusals()).toEqual([expect.objectContaining({ actor: person, tries: 2, ...from("203.0.113.9") })]);
  });

  it("is another entry when the person is a member again: that of the erased one stays as it is", async () => {
    await refuse("203.0.113.8");
    await people.removeMember(brand, person);
    const { pseudonym } = await served.operator.beginErasure({ email: person });
    await served.db.query("update accounts.erasures set begun_at = begun_at - interval '1 hour' where email = $1", [person]);
    await served.operator.erasePerson({ email: person, brand_ids: [] });
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
    jest.useFakeTimers({ ...REAL_BUT_DATE, now: Date.now() + 86_400_000 });
    try {
      await refuse("203.0.113.9");
    } finally {
      jest.useRealTimers();
    }
    expect((await refusals()).map(({ tries, address }) => [tries, address])).toEqual([
      [1, "203.0.113.9"],
      [1, "203.0.113.8"],
    ]);
  });
});
