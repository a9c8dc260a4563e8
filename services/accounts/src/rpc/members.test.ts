import { losingCommitAnswer } from "@brand-records/testkit";
import { peopleOf } from "../../test/people.ts";
import { callContext, expectRefusal, servedAccounts, settled, type TestBrand } from "../../test/serve-accounts.ts";

const ANA = "ana@example.ph";
const ZOE = "zoe@example.ph";

const served = servedAccounts();
const people = peopleOf(served);

/** Changes of a brand's members, by the operator or by a member. */
const add = ({ id }: TestBrand, email: string, role = "member", acting_member?: string) =>
  served.accounts.addMember({ brand_id: id, email, role, acting_member });
const remove = ({ id }: TestBrand, email: string, acting_member?: string) =>
  served.accounts.removeMember({ brand_id: id, email, acting_member });
const setRole = ({ id }: TestBrand, email: string, role: string, acting_member?: string) =>
  served.accounts.setMemberRole({ brand_id: id, email, role, acting_member });
const list = ({ id }: TestBrand, more: { email?: string; page_size?: number; page_token?: string | null } = {}) =>
  served.accounts.listMembers({ brand_id: id, ...more });
const rolesOf = async (brand: TestBrand, more: { email?: string } = {}) =>
  (await list(brand, more)).members.map(({ email, role }) => [email, role]);

it("keeps one member with one role for each address, whatever its case", async () => {
  const brand = await served.createBrand();
  await add(brand, "Ana@Example.PH");
  await add(brand, ANA, "owner");
  await add(brand, ZOE);
  const others = [
    [brand.owner, "owner"],
    [ZOE, "member"],
  ];
  expect(await rolesOf(brand)).toEqual([[ANA, "owner"], ...others]);
  await remove(brand, "ANA@example.ph");
  expect(await rolesOf(brand)).toEqual(others);
});

it.each(["2024-ops@brand.example", "2024-13-45@brand.example"])("goes on after %s at the end of a page", async (email) => {
  const brand = await served.createBrand();
  await add(brand, email);
  const { next_page_token: page_token = null } = await list(brand, { page_size: 1 });
  expect((await list(brand, { page_size: 1, page_token })).members.map((member) => member.email)).toEqual([brand.owner]);
});

it("lists one member alone, whatever the case of the address, and none of another brand", async () => {
  const [ours, theirs] = [await served.createBrand(), await served.createBrand()];
  await add(ours, ANA);
  await add(theirs, ZOE);
  expect(await rolesOf(ours, { email: "ANA@example.ph" })).toEqual([[ANA, "member"]]);
  expect(await rolesOf(ours, { email: ours.owner })).toEqual([[ours.owner, "owner"]]);
  expect(await rolesOf(ours, { email: ZOE })).toEqual([]);
  await expectRefusal(list({ id: "brd_unknown", owner: "" }, { email: ANA }), "not_found", "brand_id");
  await expectRefusal(list(ours, { email: "" }), "invalid_request", "email");
});

it("lists a brand's members in pages without losing or repeating one", async () => {
  const brand = await served.createBrand();
  await served.db.query(
    "insert into accounts.members (brand_id, email, role) select $1, 'm' || n || '@example.ph', 'member' from generate_series(1, 1000) n",
    [brand.id],
  );
  const walk = async (more: { page_size?: number }): Promise<string[]> => {
    const found: string[] = [];
    let page_token: string | null | undefined;
    do {
      const page = await list(brand, { ...more, ...(page_token && { page_token }) });
      expect(page.members.length).toBeLessThanOrEqual(more.page_size ?? 200);
      found.push(...page.members.map(({ email }) => email));
      page_token = page.next_page_token;
    } while (page_token != null);
    return found;
  };
  const all = await walk({});
  expect(all).toHaveLength(1_001);
  expect(all).toEqual([...new Set(all)].toSorted());
  expect(await walk({ page_size: 170 })).toEqual(all);
  const { next_page_token: page_token = null } = await list(brand, { page_size: 1 });
  await expectRefusal(list(await served.createBrand(), { page_token }), "invalid_cursor", "page_token");
  await expectRefusal(list(brand, { page_size: 201 }), "invalid_request", "page_size");
});

it("has as many members as a setting allows, of calls at once too; roles still change", async () => {
  const brand = await served.createBrand();
  const limited = await served.alsoWith({ limits: { keys: 1, members: 4 } });
  const added = (email: string, only_new = true) => limited.accounts.addMember({ brand_id: brand.id, email, role: "member", only_new });
  const { refused } = await settled(Array.from({ length: 12 }, (_, n) => added(`n${n}@example.ph`, n % 2 === 0)));
  expect(refused).toEqual(Array(9).fill("member_limit"));
  expect(await rolesOf(brand)).toHaveLength(4);
  await expect(added("more@example.ph")).rejects.toThrow("at most 4 members");
  const member = (await rolesOf(brand)).map(([email = ""]) => email).find((email) => email !== brand.owner) ?? "";
  await limited.accounts.addMember({ brand_id: brand.id, email: member, role: "owner" });
  await expectRefusal(added(member), "already_exists");
  await remove(brand, member);
  await added("late@example.ph");
});

it("returns not_found for an unknown member or brand, and every problem of a request in one error", async () => {
  await expectRefusal(remove(await served.createBrand(), "stranger@example.ph"), "not_found", "email");
  const unknown = { id: "brd_unknown", owner: "" };
  for (const change of [remove, add]) await expectRefusal(change(unknown, ANA), "not_found", "brand_id");
  await expect(add({ id: "1", owner: "" }, "ana", "admin", "")).rejects.toMatchObject({
    kind: "invalid_request",
    // An empty address never stands for the operator.
    details: ["brand_id", "email", "acting_member", "role"].map((field) => ({ field })),
  });
});

it("says that a new member is one already, and changes no role", async () => {
  const brand = await served.createBrand();
  const addNew = (email: string) => served.accounts.addMember({ brand_id: brand.id, email, role: "member", only_new: true });
  await expectRefusal(addNew(brand.owner.toUpperCase()), "already_exists", "email");
  expect((await settled([addNew(ANA), addNew(ANA)])).refused).toEqual(["already_exists"]);
  expect(Object.fromEntries(await rolesOf(brand))).toEqual({ [ANA]: "member", [brand.owner]: "owner" });
});

it("changes the role of a member, and adds none", async () => {
  const brand = await served.createBrand();
  await add(brand, ANA);
  expect((await setRole(brand, "ANA@example.ph", "owner")).member).toMatchObject({ email: ANA, role: "owner" });
  await expectRefusal(setRole(brand, ZOE, "member"), "not_found", "email");
  expect(await rolesOf(brand)).toHaveLength(2);
});

describe("the last owner", () => {
  it("can be neither removed nor demoted, nor leave, until the brand has another", async () => {
    const brand = await served.createBrand();
    await add(brand, ANA);
    const changes = [() => remove(brand, brand.owner), () => add(brand, brand.owner), () => remove(brand, brand.owner, brand.owner)];
    for (const change of changes) await expectRefusal(change(), "last_owner");
    expect(await rolesOf(brand)).toContainEqual([brand.owner, "owner"]);
    await add(brand, ANA, "owner");
    await remove(brand, brand.owner);
    expect(await rolesOf(brand)).toEqual([[ANA, "owner"]]);
  });

  it.each<[string, (brand: TestBrand, email: string, acting: string) => Promise<unknown>, readonly string[]]>([
    ["remove", (brand, email) => remove(brand, email), ["last_owner"]],
    ["remove, as members,", remove, ["last_owner", "owner_required"]],
    ["demote, as members,", (brand, email, acting) => setRole(brand, email, "member", acting), ["last_owner", "owner_required"]],
  ])("remains when two owners %s each other at the same time", async (_, change, kinds) => {
    for (let round = 0; round < 8; round += 1) {
      const brand = await served.createBrand();
      await add(brand, ANA, "owner");
      const { refused } = await settled([change(brand, brand.owner, ANA), change(brand, ANA, brand.owner)]);
      expect(refused).toHaveLength(1);
      expect(kinds).toEqual(expect.arrayContaining(refused));
      expect((await rolesOf(brand)).filter(([, role]) => role === "owner")).toHaveLength(1);
    }
  });
});

it("a brand that never had an owner may have members", async () => {
  const { brand } = await served.accounts.createBrand({ name: "New", tier: "plus", verified: true });
  const ownerless = { id: brand?.id ?? "", owner: "" };
  await add(ownerless, ANA);
  await remove(ownerless, ANA);
  expect(await rolesOf(ownerless)).toEqual([]);
});

describe("a member who acts", () => {
  it("adds and removes members as an owner", async () => {
    const brand = await served.createBrand();
    await add(brand, ANA, "owner", brand.owner.toUpperCase());
    await remove(brand, brand.owner, ANA);
    expect(await rolesOf(brand)).toEqual([[ANA, "owner"]]);
  });

  it("changes nothing as a member, a stranger or another brand's owner", async () => {
    const [brand, other] = [await served.createBrand(), await served.createBrand()];
    await add(brand, ANA);
    const before = await rolesOf(brand);
    for (const acting of [ANA, "stranger@example.ph", other.owner]) {
      await expectRefusal(add(brand, acting, "owner", acting), "owner_required");
      await expectRefusal(setRole(brand, acting, "owner", acting), "owner_required");
      await expectRefusal(remove(brand, brand.owner, acting), "owner_required");
    }
    expect(await rolesOf(brand)).toEqual(before);
  });

  it("leaves the brand alone, though no owner, and removes no other member by it", async () => {
    const [brand, other] = [await served.createBrand(), await served.createBrand()];
    for (const email of [ANA, ZOE]) await add(brand, email);
    await add(other, ANA);
    await expectRefusal(remove(brand, ZOE, ANA), "owner_required");
    await remove(brand, ANA, "Ana@example.ph");
    expect((await rolesOf(brand)).map(([email]) => email)).toEqual([brand.owner, ZOE].toSorted());
    expect(await rolesOf(other)).toContainEqual([ANA, "member"]);
    await expectRefusal(remove(brand, ANA, ANA), "not_found", "email");
  });
});

it("lists a person's memberships, in whatever case the address is given, and none of a stranger's", async () => {
  const [one, two] = [await served.createBrand(), await served.createBrand({ tier: "pro" })];
  await add(one, "lia@example.ph");
  await add(two, "lia@example.ph", "owner");
  const membership = { brand_name: "Tindahan", verified: true };
  expect(await served.accounts.listMemberships({ email: "LIA@example.ph" })).toEqual({
    memberships: [
      { ...membership, brand_id: one.id, tier: "plus", role: "member" },
      { ...membership, brand_id: two.id, tier: "pro", role: "owner" },
    ],
  });
  expect(await served.accounts.listMemberships({ email: "stranger@example.ph" })).toEqual({ memberships: [] });
});

it("does not repeat a change of role whose answer is lost: an owner who has become a member would be refused what is done", async () => {
  const brand = await served.createBrand();
  await add(brand, ANA, "owner");
  const grants = await people.grants(await people.session(brand.owner), brand);
  const { accounts } = await served.alsoWith({ db: losingCommitAnswer(served.db) });
  const change = { brand_id: brand.id, email: brand.owner, role: "member" };
  await expectRefusal(accounts.setMemberRole(change, { ...callContext(), grants }), "unavailable");
  expect(await rolesOf(brand)).toContainEqual([brand.owner, "member"]);
});
