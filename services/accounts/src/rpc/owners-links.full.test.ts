import { callBehind, callContext, expectRefusal, servedAccounts, type TestBrand } from "../../test/serve-accounts.ts";
import { peopleOf } from "../../test/people.ts";
import { lockBrand } from "../storage/brands.ts";
import { deleteMember } from "../storage/members.ts";

/** One promise: a link that an owner makes opens the owner's brand alone, and only while it is the owner's. */

const served = servedAccounts();
const people = peopleOf(served);

const { ownersLink: invite, open } = people;
const brandsOf = async (session: string) => (await people.get(session)).memberships.map(({ brand_id }) => brand_id);
const setRole = ({ id }: TestBrand, email: string, role: string) => served.accounts.setMemberRole({ brand_id: id, email, role });
const entriesOf = async ({ id }: TestBrand) =>
  (await served.audit.listAudit({ brand_id: id, action: "sign_in_link.create", page_size: 0 })).entries;

/** The context of calls in a session, from an address. */
const inSession = async (token: string, brand: TestBrand) => {
  const grants = await people.grants(token, brand, { address: "203.0.113.7", browser: "Firefox" });
  return { ...callContext(), grants };
};

const SECOND = "second@example.ph";
const expectEnded = (session: string) => expectRefusal(people.get(session), "invalid_session");
const expectUnknown = (link: string) => expectRefusal(people.redeem(link), "sign_in_link_unknown");

it("opens that brand alone, of a person who was a member of another brand before, and who becomes one later", async () => {
  const { brand, email } = await people.newPerson();
  const [before, after] = [await served.createBrand(), await served.createBrand()];
  await people.addMember(before, email, "owner");
  const [token, other] = [await invite(brand, email), await invite(brand, email)];
  expect(await people.peek(token)).toMatchObject({ email, brand_name: "Tindahan" });
  const session = await open(token);
  await people.addMember(after, email, "owner");
  for (const opened of [session, await open(other)]) {
    expect((await people.get(opened)).session?.brand_id).toBe(brand.id);
    expect(await brandsOf(opened)).toEqual([brand.id]);
  }
  // The operator's opens all.
  const all = await people.session(email);
  expect((await people.get(all)).session?.brand_id).toBeNull();
  expect((await brandsOf(all)).toSorted()).toEqual([brand.id, before.id, after.id].toSorted());
});

it("is in the audit log of that brand alone, as the owner's, with the address", async () => {
  const { brand, email } = await people.newPerson();
  const other = await served.createBrand();
  await people.addMember(other, email);
  const session = await inSession(await people.session(brand.owner), brand);
  const { token } = await served.signIn.createSignInLink({ email, ttl_seconds: 0, brand_id: brand.id }, session);
  expect(await entriesOf(other)).toEqual([]);
  const entries = (await entriesOf(brand)).filter(({ subject_id }) => subject_id === email);
  expect(entries).toEqual([
    expect.objectContaining({ actor: brand.owner, subject_id: email, address: "203.0.113.7", outcome: "done", request_id: "test" }),
  ]);
  expect(JSON.stringify(entries)).not.toContain(token);
});

it("is made by owners, for other members of their brand", async () => {
  const { brand, email } = await people.newPerson();
  const [other, elsewhere] = [await served.createBrand(), "zoe@example.ph"];
  await people.addMember(other, elsewhere);
  await expectRefusal(invite(brand, elsewhere), "no_membership");
  await expectRefusal(invite(brand, "stranger@example.ph"), "no_membership");
  for (const acting of [email, other.owner]) await expectRefusal(invite(brand, brand.owner, acting), "owner_required");
  await expectRefusal(invite({ id: "brd_unknown", owner: brand.owner }, email), "not_found");
  for (const own of [brand.owner, brand.owner.toUpperCase()]) await expectRefusal(invite(brand, own), "invalid_request", "email");
  const request = { email, ttl_seconds: 0 };
  await expectRefusal(served.signIn.createSignInLink({ ...request, acting_member: brand.owner }), "invalid_request", "brand_id");
  await expectRefusal(served.signIn.createSignInLink({ ...request, brand_id: brand.id }), "invalid_request", "acting_member");
  expect(await entriesOf(brand)).toEqual([]);
});

it("is made in no session that an owner's link opened, so that nothing that it opened outlives the owner", async () => {
  const { brand, email } = await people.newPerson();
  const bea = "bea@example.ph";
  await people.addMember(brand, bea, "owner");
  const asSecond = await open(await invite(brand, bea));
  expect((await people.get(asSecond)).session).toMatchObject({ email: bea, made_by: brand.owner });
  const session = await inSession(asSecond, brand);
  for (const address of [email, brand.owner, bea]) {
    const request = { email: address, ttl_seconds: 0, brand_id: brand.id };
    await expectRefusal(served.signIn.createSignInLink(request, session), "limited_session");
  }
  await people.removeMember(brand, brand.owner);
  await expectEnded(asSecond);
  expect(await served.db.query("select 1 from accounts.sign_in_links where brand_id = $1", [brand.id])).toEqual([]);
  expect((await people.get(await people.session(bea))).session?.made_by).toBeNull();
});

it("ends with the membership, and its sessions do, though the person has another brand, and is added again", async () => {
  const { brand, email } = await people.newPerson();
  const other = await served.createBrand();
  await people.addMember(other, email);
  const [token, session, all] = [await invite(brand, email), await open(await invite(brand, email)), await people.session(email)];
  await people.removeMember(brand, email);
  await people.addMember(brand, email);
  await expectUnknown(token);
  await expectEnded(session);
  expect(await brandsOf(all)).toHaveLength(2);
});

it.each(["removed", "no owner any more"])("ends for others once its maker is %s, and its sessions do", async (how) => {
  const { brand, email } = await people.newPerson();
  await people.addMember(brand, SECOND, "owner");
  const [kept, token, own] = [await open(await invite(brand, email)), await invite(brand, email, SECOND), await people.session(SECOND)];
  const opened = await open(await invite(brand, brand.owner, SECOND));
  if (how === "removed") await people.removeMember(brand, SECOND);
  else await setRole(brand, SECOND, "member");
  await expectUnknown(token);
  await expectEnded(opened);
  expect(await brandsOf(kept)).toEqual([brand.id]);
  if (how === "removed") await expectEnded(own);
  else expect((await people.get(own)).memberships).toEqual([expect.objectContaining({ role: "member" })]);
});

it("leaves no session behind when it is redeemed while its person or its maker is removed, or its maker demoted", async () => {
  for (let round = 0; round < 12; round += 1) {
    const { brand, email } = await people.newPerson();
    await people.addMember(brand, SECOND, "owner");
    const token = await invite(brand, email, SECOND);
    const change = [
      () => people.removeMember(brand, email),
      () => people.removeMember(brand, SECOND),
      () => setRole(brand, SECOND, "member"),
    ][round % 3];
    const outcomes = await Promise.allSettled([people.redeem(token), change?.()]);
    expect(outcomes[1].status).toBe("fulfilled");
    expect(await served.db.query("select 1 from accounts.sessions where brand_id = $1", [brand.id])).toEqual([]);
  }
});

it("waits while the brand's members change, so that redeeming it and removing its maker never wait for each other", async () => {
  const { brand, email } = await people.newPerson();
  await people.addMember(brand, SECOND, "owner");
  const token = await invite(brand, email, SECOND);
  const { refused } = await callBehind(
    served.db,
    (sql) => lockBrand(sql, brand.id),
    () => people.redeem(token),
    (sql) => deleteMember(sql, brand.id, SECOND),
  );
  expect(refused).toEqual(["sign_in_link_unknown"]);
});

it("does not sign its person out of other brands: all of its sessions end alone", async () => {
  const { brand, email } = await people.newPerson();
  const [scoped, all] = [await open(await invite(brand, email)), await people.session(email)];
  const [unused, operators] = [await invite(brand, email), await people.link(email)];
  expect(await served.sessions.endSessionsOf({ email, brand_id: brand.id })).toEqual({ ended: 1 });
  await expectEnded(scoped);
  await expectUnknown(unused);
  expect((await people.redeem(operators))?.email).toBe(email);
  expect(await brandsOf(all)).toEqual([brand.id]);
});
