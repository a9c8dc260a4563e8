import { expectRefusal, servedAccounts, type TestBrand, untilWaiting } from "../../test/serve-accounts.ts";
import { peopleOf } from "../../test/people.ts";
import { lockBrand } from "../storage/brands.ts";
import { deleteMember } from "../storage/members.ts";

/** One promise: a link that an owner makes opens the owner's brand alone, and only while it is the owner's. */

const served = servedAccounts();
const people = peopleOf(served);

const invite = async (brand: TestBrand, email: string, acting_member = brand.owner): Promise<string> => {
  const request = { email, ttl_seconds: 86_400, brand_id: brand.id, acting_member, address: "203.0.113.7" };
  return (await served.signIn.createSignInLink(request)).token;
};
const open = async (token: string): Promise<string> => (await people.redeem(token))?.token ?? "";
const brandsOf = async (session: string) => (await people.get(session)).memberships.map(({ brand_id }) => brand_id);
const setRole = ({ id }: TestBrand, email: string, role: string) => served.accounts.setMemberRole({ brand_id: id, email, role });
const entriesOf = async ({ id }: TestBrand) =>
  (await served.audit.listAudit({ brand_id: id, action: "sign_in_link.create", page_size: 0 })).entries;

const invalidSession = { kind: "invalid_session" };
const unknownLink = { kind: "sign_in_link_unknown" };

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
  const token = await invite(brand, email);
  expect(await entriesOf(other)).toEqual([]);
  const entries = await entriesOf(brand);
  expect(entries).toEqual([
    expect.objectContaining({ actor: brand.owner, subject_id: email, address: "203.0.113.7", outcome: "done", request_id: "test" }),
  ]);
  expect(JSON.stringify(entries)).not.toContain(token);
});

it("is made by owners, for members of their brand", async () => {
  const { brand, email } = await people.newPerson();
  const [other, elsewhere] = [await served.createBrand(), "zoe@example.ph"];
  await people.addMember(other, elsewhere);
  await expectRefusal(invite(brand, elsewhere), "no_membership");
  await expectRefusal(invite(brand, "stranger@example.ph"), "no_membership");
  for (const acting of [email, other.owner]) {
    await expectRefusal(invite(brand, brand.owner, acting), "owner_required");
  }
  await expectRefusal(invite({ id: "brd_unknown", owner: brand.owner }, email), "not_found");
  const half = { email, ttl_seconds: 0, acting_member: brand.owner };
  await expectRefusal(served.signIn.createSignInLink(half), "invalid_request", "brand_id");
  const otherHalf = { email, ttl_seconds: 0, brand_id: brand.id };
  await expect(served.signIn.createSignInLink(otherHalf)).rejects.toMatchObject({ field: "acting_member" });
  expect(await entriesOf(brand)).toEqual([]);
});

it("is made in no session that an owner's link opened, so that nothing that it opened outlives the owner", async () => {
  const { brand, email } = await people.newPerson();
  const second = "bea@example.ph";
  await people.addMember(brand, second, "owner");
  const asSecond = await open(await invite(brand, second));
  const { session } = await people.get(asSecond);
  expect(session).toMatchObject({ email: second, made_by: brand.owner });
  const request = { ttl_seconds: 0, brand_id: brand.id, acting_member: second, via: session?.made_by };
  for (const address of [email, brand.owner, second]) {
    const made = served.signIn.createSignInLink({ ...request, email: address });
    await expectRefusal(made, "limited_session");
  }
  // An operator has no session.
  const half = served.signIn.createSignInLink({ email, ttl_seconds: 0, via: second });
  await expectRefusal(half, "invalid_request");
  await people.removeMember(brand, brand.owner);
  await expect(people.get(asSecond)).rejects.toMatchObject(invalidSession);
  expect(await served.db.query("select 1 from accounts.sign_in_links where brand_id = $1", [brand.id])).toEqual([]);
  expect((await people.get(await people.session(second))).session?.made_by).toBeNull();
});

it("is not made for the owner's own address", async () => {
  const { brand } = await people.newPerson();
  for (const own of [brand.owner, brand.owner.toUpperCase()]) {
    await expectRefusal(invite(brand, own), "invalid_request", "email");
  }
  expect(await entriesOf(brand)).toEqual([]);
});

it("ends with the membership, and its sessions do, though the person has another brand, and is added again", async () => {
  const { brand, email } = await people.newPerson();
  const other = await served.createBrand();
  await people.addMember(other, email);
  const [token, session, all] = [await invite(brand, email), await open(await invite(brand, email)), await people.session(email)];
  await people.removeMember(brand, email);
  await people.addMember(brand, email);
  await expect(people.peek(token)).rejects.toMatchObject(unknownLink);
  await expect(people.redeem(token)).rejects.toMatchObject(unknownLink);
  await expect(people.get(session)).rejects.toMatchObject(invalidSession);
  expect(await brandsOf(all)).toHaveLength(2);
});

it.each(["removed", "no owner any more"])("ends for others once its maker is %s, and its sessions do", async (how) => {
  const { brand, email } = await people.newPerson();
  const second = "second@example.ph";
  await people.addMember(brand, second, "owner");
  const [kept, token, own] = [await open(await invite(brand, email)), await invite(brand, email, second), await people.session(second)];
  const opened = await open(await invite(brand, brand.owner, second));
  if (how === "removed") await people.removeMember(brand, second);
  else await setRole(brand, second, "member");
  await expect(people.redeem(token)).rejects.toMatchObject(unknownLink);
  await expect(people.get(opened)).rejects.toMatchObject(invalidSession);
  expect(await brandsOf(kept)).toEqual([brand.id]);
  if (how === "removed") await expect(people.get(own)).rejects.toMatchObject(invalidSession);
  else expect((await people.get(own)).memberships).toEqual([expect.objectContaining({ role: "member" })]);
});

it("leaves no session behind when it is redeemed while its person or its maker is removed, or its maker demoted", async () => {
  const second = "second@example.ph";
  for (let round = 0; round < 12; round += 1) {
    const { brand, email } = await people.newPerson();
    await people.addMember(brand, second, "owner");
    const token = await invite(brand, email, second);
    const change = [
      () => people.removeMember(brand, email),
      () => people.removeMember(brand, second),
      () => setRole(brand, second, "member"),
    ][round % 3];
    const outcomes = await Promise.allSettled([people.redeem(token), change?.()]);
    expect(outcomes[1].status).toBe("fulfilled");
    expect(await served.db.query("select 1 from accounts.sessions where brand_id = $1", [brand.id])).toEqual([]);
  }
});

it("waits while the brand's members change, so that redeeming it and removing its maker never wait for each other", async () => {
  const { brand, email } = await people.newPerson();
  const second = "second@example.ph";
  await people.addMember(brand, second, "owner");
  const token = await invite(brand, email, second);
  const { redeemed } = await served.db.transaction(async (sql) => {
    await lockBrand(sql, brand.id);
    const redeeming = Promise.allSettled([people.redeem(token)]);
    await untilWaiting(served.db);
    await deleteMember(sql, brand.id, second);
    return { redeemed: redeeming };
  });
  expect(await redeemed).toEqual([{ status: "rejected", reason: expect.objectContaining(unknownLink) }]);
});

it("does not sign its person out of other brands: all of its sessions end alone", async () => {
  const { brand, email } = await people.newPerson();
  const [scoped, all] = [await open(await invite(brand, email)), await people.session(email)];
  const [unused, operators] = [await invite(brand, email), await people.link(email)];
  expect(await served.sessions.endSessionsOf({ email, brand_id: brand.id })).toEqual({ ended: 1 });
  await expect(people.get(scoped)).rejects.toMatchObject(invalidSession);
  await expect(people.redeem(unused)).rejects.toMatchObject(unknownLink);
  expect((await people.redeem(operators))?.email).toBe(email);
  expect(await brandsOf(all)).toEqual([brand.id]);
});
