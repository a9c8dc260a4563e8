import { randomBytes } from "node:crypto";
import { expectRefusal, expectSameRefusal, servedAccounts, settled } from "../../test/serve-accounts.ts";
import { peopleOf } from "../../test/people.ts";
import { touchSession } from "../storage/sessions.ts";

const served = servedAccounts();
const people = peopleOf(served);

const IDLE_SECONDS = 7_200;
const SECONDS_MAX = 43_200;
const LIMITS = { idleSeconds: IDLE_SECONDS, maxSeconds: SECONDS_MAX };
const expectInvalid = (token: string, by = people) => expectRefusal(by.get(token), "invalid_session");

it("returns the person, and each brand as it is now, with the role", async () => {
  const { brand, email } = await people.newPerson();
  const token = await people.session(email);
  const other = await served.createBrand({ tier: "pro", verified: false });
  await people.addMember(other, email, "owner");
  const { session, memberships } = await people.get(token);
  expect(session).toMatchObject({ email });
  expect(Date.parse(session?.ends_at ?? "") - Date.parse(session?.created_at ?? "")).toBe(SECONDS_MAX * 1000);
  expect(memberships.toSorted((a, b) => (a.brand_id < b.brand_id ? -1 : 1))).toEqual([
    { brand_id: brand.id, brand_name: "Tindahan", tier: "plus", verified: true, role: "member" },
    { brand_id: other.id, brand_name: "Tindahan", tier: "pro", verified: false, role: "owner" },
  ]);
  await served.accounts.setBrandTier({ brand_id: brand.id, tier: "starter" });
  await people.addMember(brand, email, "owner");
  expect((await people.get(token)).memberships).toContainEqual(expect.objectContaining({ tier: "starter", role: "owner" }));
});

it("returns no membership of a brand from the call after the removal on, and ends for good with the last", async () => {
  const { brand, email } = await people.newPerson();
  const [tokens, other] = [[await people.session(email), await people.session(email)], await served.createBrand()];
  await people.addMember(other, email);
  await people.removeMember(brand, email);
  for (const token of tokens) expect((await people.get(token)).memberships).toEqual([expect.objectContaining({ brand_id: other.id })]);
  await people.removeMember(other, email);
  await people.addMember(brand, email);
  for (const token of tokens) await expectInvalid(token);
});

it("remains to no person who is removed from two brands at the same time", async () => {
  for (let round = 0; round < 10; round += 1) {
    const { brand, email } = await people.newPerson();
    const other = await served.createBrand();
    await people.addMember(other, email);
    await people.session(email);
    await Promise.all([people.removeMember(brand, email), people.removeMember(other, email)]);
    expect(await people.sessionsOf(email)).toBe(0);
  }
});

it("refuses unknown, malformed, ended and expired sessions, and people without a brand, with the same error", async () => {
  const { brand, email } = await people.newPerson();
  const tokens: string[] = [];
  for (let n = 0; n < 4; n += 1) tokens.push(await people.session(email));
  const [ended = "", idle = "", old = ""] = tokens;
  await people.end(ended);
  await people.moveBack("sessions", "last_used_at", idle, IDLE_SECONDS);
  await people.moveBack("sessions", "created_at", old, SECONDS_MAX);
  // Does what a removal of the membership between the check and the commit of a sign-in does.
  await served.db.query("delete from accounts.members where brand_id = $1 and email = $2", [brand.id, email]);
  const unknown = randomBytes(32).toString("base64url");
  const refused = [...tokens, unknown, "", "x", `${unknown}=`, `${unknown}A`, "é".repeat(43)];
  await expectSameRefusal(refused.map(people.get), "invalid_session");
});

it("lives while it is used, and no longer than its limit in all", async () => {
  const token = await people.session((await people.newPerson()).email);
  for (const _ of [1, 2]) {
    await people.moveBack("sessions", "last_used_at", token, IDLE_SECONDS - 60);
    // This use counts, and so it does for the next call.
    for (const call of [1, 2]) {
      const { session } = await people.get(token);
      expect([call, Date.parse(session?.idle_ends_at ?? "") > Date.now() + (IDLE_SECONDS - 60) * 1000]).toEqual([call, true]);
    }
  }
  await people.moveBack("sessions", "created_at", token, SECONDS_MAX - 60);
  const { session } = await people.get(token);
  expect(session?.idle_ends_at).toBe(session?.ends_at);
  await people.moveBack("sessions", "created_at", token, 61);
  await expectInvalid(token);
});

it("writes a use at most once a minute, however many calls there are, and is not revived by one after it expired", async () => {
  const token = await people.session((await people.newPerson()).email);
  const version = () => served.db.query("select xmin::text from accounts.sessions where token_hash = $1", [people.hashOf(token)]);
  const created = await version();
  await people.get(token);
  expect(await version()).toEqual(created);
  await people.moveBack("sessions", "last_used_at", token, 61);
  await people.get(token);
  const touched = await version();
  await Promise.all(Array.from({ length: 20 }, () => people.get(token)));
  // Another process found the same use due at the same time.
  await touchSession(served.db, people.hashOf(token), LIMITS, 60);
  expect(await version()).toEqual(touched);
  await people.moveBack("sessions", "last_used_at", token, IDLE_SECONDS);
  await touchSession(served.db, people.hashOf(token), LIMITS, 60);
  await expectInvalid(token);
});

it("takes both limits from the settings of the process", async () => {
  const token = await people.session((await people.newPerson()).email);
  const short = peopleOf(await served.alsoWith({ sessionLimits: { idleSeconds: 60, maxSeconds: 600 } }));
  await people.moveBack("sessions", "last_used_at", token, 61);
  await expectInvalid(token, short);
  await people.get(token);
  await short.get(token);
  await people.moveBack("sessions", "created_at", token, 601);
  await expectInvalid(token, short);
});

it("ends alone, again without an error", async () => {
  const { email } = await people.newPerson();
  const [one, two] = [await people.session(email), await people.session(email)];
  for (const token of [one, one, "not a token"]) await people.end(token);
  await expectInvalid(one);
  await people.get(two);
});

it("ends with all of its person, and the unused links do, and no one else's", async () => {
  const [ana, zoe] = [await people.newPerson(), await people.newPerson()];
  const [unused, used, other] = [await people.link(ana.email), await people.link(ana.email), await people.link(zoe.email)];
  const [one, two, theirs] = [await people.session(ana.email), await people.open(used), await people.session(zoe.email)];
  expect(await served.sessions.endSessionsOf({ email: ana.email.toUpperCase() })).toEqual({ ended: 2 });
  for (const token of [one, two]) await expectInvalid(token);
  await people.get(theirs);
  await expectRefusal(people.redeem(unused), "sign_in_link_unknown");
  await expectRefusal(people.redeem(used), "sign_in_link_used");
  expect((await people.redeem(other))?.email).toBe(zoe.email);
});

it("remains to no person whose link is redeemed while all sessions end", async () => {
  for (let round = 0; round < 10; round += 1) {
    const { email } = await people.newPerson();
    const token = await people.link(email);
    const [{ refused }] = await Promise.all([settled([people.redeem(token)]), served.sessions.endSessionsOf({ email })]);
    // Redeemed before, its session is ended; after, the link is unknown.
    for (const kind of refused) expect(kind).toBe("sign_in_link_unknown");
    expect(await people.sessionsOf(email)).toBe(0);
  }
});

it("stores no token, only its SHA-256", async () => {
  const { email } = await people.newPerson();
  const link = await people.link(email);
  const token = await people.open(link);
  expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
  for (const [table, secret] of Object.entries({ sessions: token, sign_in_links: link })) {
    const [row] = await served.db.query<{ token_hash: Buffer; text: string }>(
      `select t.token_hash, t::text as text from accounts.${table} t where t.email = $1`,
      [email],
    );
    expect(row?.token_hash).toEqual(people.hashOf(secret));
    for (const text of [secret, Buffer.from(secret, "base64url").toString("hex")]) expect(row?.text).not.toContain(text);
  }
});

it("is opened by one spelling of its token only, so that each session has one cookie, and by no link or hash", async () => {
  const { email } = await people.newPerson();
  const token = await people.session(email);
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  // The last character carries four bits: its neighbour decodes to the same bytes.
  const sameBytes = token.slice(0, -1) + alphabet.charAt(alphabet.indexOf(token.slice(-1)) + 1);
  expect(people.hashOf(sameBytes)).toEqual(people.hashOf(token));
  const others = [await people.link(email), people.hashOf(token).toString("base64url")];
  for (const text of [sameBytes, `${token}=`, ` ${token}`, `${token}\n`, ...others]) await expectInvalid(text);
  await people.get(token);
  await expectRefusal(people.redeem(token), "sign_in_link_unknown");
});
