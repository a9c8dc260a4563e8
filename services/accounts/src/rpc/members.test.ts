import { losingCommitAnswer } from "@brand-records/testkit";
import { callContext, expectRefusal, servedAccounts, type TestBrand } from "../../test/serve-accounts.ts";

const served = servedAccounts();

const add = ({ id }: TestBrand, email: string, role = "member") => served.accounts.addMember({ brand_id: id, email, role });
const remove = ({ id }: TestBrand, email: string) => served.accounts.removeMember({ brand_id: id, email });
const setRole = ({ id }: TestBrand, email: string, role: string, acting_member?: string) =>
  served.accounts.setMemberRole({ brand_id: id, email, role, acting_member });
const rolesOf = async ({ id }: TestBrand) => {
  const { members } = await served.accounts.listMembers({ brand_id: id });
  return members.map(({ email, role }) => [email, role]);
};

it("keeps one member with one role for each address, whatever its case", async () => {
  const brand = await served.createBrand();
  await add(brand, "Ana@Example.PH");
  await add(brand, "ana@example.ph", "owner");
  await add(brand, "zoe@example.ph");
  expect(await rolesOf(brand)).toEqual([
    ["ana@example.ph", "owner"],
    [brand.owner, "owner"],
    ["zoe@example.ph", "member"],
  ]);
  await remove(brand, "ANA@example.ph");
  expect(await rolesOf(brand)).toEqual([
    [brand.owner, "owner"],
    ["zoe@example.ph", "member"],
  ]);
});

it("removes a member from the given brand only", async () => {
  const [ours, theirs] = [await served.createBrand(), await served.createBrand()];
  await add(ours, "ana@example.ph");
  await add(theirs, "ana@example.ph");
  await remove(ours, "ana@example.ph");
  expect(await rolesOf(theirs)).toContainEqual(["ana@example.ph", "member"]);
});

it("lists one member alone, whatever the case of the address, and none of another brand", async () => {
  const [ours, theirs] = [await served.createBrand(), await served.createBrand()];
  await add(ours, "ana@example.ph");
  await add(theirs, "zoe@example.ph");
  const listed = async (brand_id: string, email: string) =>
    (await served.accounts.listMembers({ brand_id, email })).members.map((member) => [member.email, member.role]);
  expect(await listed(ours.id, "ANA@example.ph")).toEqual([["ana@example.ph", "member"]]);
  expect(await listed(ours.id, ours.owner)).toEqual([[ours.owner, "owner"]]);
  expect(await listed(ours.id, "zoe@example.ph")).toEqual([]);
  await expectRefusal(listed("brd_unknown", "ana@example.ph"), "not_found", "brand_id");
  await expectRefusal(listed(ours.id, ""), "invalid_request", "email");
});

it("lists a brand's members in pages without losing or repeating one", async () => {
  const brand = await served.createBrand();
  await served.db.query(
    "insert into accounts.members (brand_id, email, role) select $1, 'm' || n || '@example.ph', 'member' from generate_series(1, 3000) n",
    [brand.id],
  );
  const walk = async (more: { page_size?: number }): Promise<string[]> => {
    const found: string[] = [];
    let page_token: string | null | undefined;
    do {
      const page = await served.accounts.listMembers({ brand_id: brand.id, ...more, ...(page_token && { page_token }) });
      expect(page.members.length).toBeLessThanOrEqual(more.page_size ?? 200);
      found.push(...page.members.map(({ email }) => email));
      page_token = page.next_page_token;
    } while (page_token != null);
    return found;
  };
  const all = await walk({});
  expect(all).toHaveLength(3_001);
  expect(all).toEqual([...new Set(all)].toSorted());
  expect(await walk({ page_size: 170 })).toEqual(all);
  const listOf = (more: object) => served.accounts.listMembers({ brand_id: brand.id, ...more });
  const { next_page_token: token } = await listOf({ page_size: 1 });
  await expectRefusal(listOf({ page_token: token, brand_id: (await served.createBrand()).id }), "invalid_cursor", "page_token");
  await expectRefusal(listOf({ page_size: 201 }), "invalid_request", "page_size");
});

it("has as many members as a setting allows, of calls at once too; roles still change", async () => {
  const brand = await served.createBrand();
  const limited = await served.alsoWith({ limits: { keys: 1, members: 4 } });
  const added = (email: string, only_new = true) => limited.accounts.addMember({ brand_id: brand.id, email, role: "member", only_new });
  const results = await Promise.allSettled(Array.from({ length: 12 }, (_, n) => added(`n${n}@example.ph`, n % 2 === 0)));
  expect(await rolesOf(brand)).toHaveLength(4);
  expect(results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []))).toEqual(
    Array(9).fill(expect.objectContaining({ kind: "member_limit", message: expect.stringContaining("at most 4 members") })),
  );
  const member = (await rolesOf(brand)).map(([email = ""]) => email).find((email) => email !== brand.owner) ?? "";
  await limited.accounts.addMember({ brand_id: brand.id, email: member, role: "owner" });
  await expectRefusal(added(member), "already_exists");
  await remove(brand, member);
  await added("late@example.ph");
});

it("returns not_found for an unknown member or brand", async () => {
  const brand = await served.createBrand();
  await expectRefusal(remove(brand, "stranger@example.ph"), "not_found", "email");
  const unknown = { id: "brd_unknown", owner: "" };
  await expectRefusal(remove(unknown, "ana@example.ph"), "not_found", "brand_id");
  await expectRefusal(add(unknown, "ana@example.ph"), "not_found", "brand_id");
});

it("reports every problem in one error", async () => {
  await expect(served.accounts.addMember({ brand_id: "1", email: "ana", role: "admin" })).rejects.toMatchObject({
    kind: "invalid_request",
    details: [{ field: "brand_id" }, { field: "email" }, { field: "role" }],
  });
});

it("says that a new member is one already, and changes no role", async () => {
  const brand = await served.createBrand();
  const addNew = (email: string) => served.accounts.addMember({ brand_id: brand.id, email, role: "member", only_new: true });
  await expectRefusal(addNew(brand.owner.toUpperCase()), "already_exists", "email");
  const outcomes = await Promise.allSettled([addNew("ana@example.ph"), addNew("ana@example.ph")]);
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(await rolesOf(brand)).toEqual([
    ["ana@example.ph", "member"],
    [brand.owner, "owner"],
  ]);
});

it("changes the role of a member, and adds none", async () => {
  const brand = await served.createBrand();
  await add(brand, "ana@example.ph");
  const { member } = await setRole(brand, "ANA@example.ph", "owner");
  expect(member).toMatchObject({ email: "ana@example.ph", role: "owner" });
  await expectRefusal(setRole(brand, "zoe@example.ph", "member"), "not_found", "email");
  expect(await rolesOf(brand)).toHaveLength(2);
});

describe("the last owner", () => {
  it("cannot be removed", async () => {
    const brand = await served.createBrand();
    await add(brand, "ana@example.ph");
    await expectRefusal(remove(brand, brand.owner), "last_owner");
    expect(await rolesOf(brand)).toContainEqual([brand.owner, "owner"]);
  });

  it("cannot be demoted", async () => {
    const brand = await served.createBrand();
    await expectRefusal(add(brand, brand.owner, "member"), "last_owner");
    expect(await rolesOf(brand)).toEqual([[brand.owner, "owner"]]);
  });

  it("can be removed once the brand has another", async () => {
    const brand = await served.createBrand();
    await add(brand, "ana@example.ph", "owner");
    await remove(brand, brand.owner);
    expect(await rolesOf(brand)).toEqual([["ana@example.ph", "owner"]]);
  });

  it("remains when two owners remove each other at the same time", async () => {
    const brands = await Promise.all(Array.from({ length: 10 }, () => served.createBrand()));
    await Promise.all(brands.map((brand) => add(brand, "ana@example.ph", "owner")));
    for (const brand of brands) {
      const removals = await Promise.allSettled([remove(brand, brand.owner), remove(brand, "ana@example.ph")]);
      const refused = removals.filter(({ status }) => status === "rejected");
      expect(refused).toEqual([{ status: "rejected", reason: expect.objectContaining({ kind: "last_owner" }) }]);
      expect(await rolesOf(brand)).toEqual([[expect.any(String), "owner"]]);
    }
  });

  it("remains when two owners demote each other at the same time", async () => {
    const brands = await Promise.all(Array.from({ length: 8 }, () => served.createBrand()));
    for (const brand of brands) {
      await add(brand, "ana@example.ph", "owner");
      const demotions = await Promise.allSettled([
        setRole(brand, brand.owner, "member", "ana@example.ph"),
        setRole(brand, "ana@example.ph", "member", brand.owner),
      ]);
      expect(demotions.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
      expect((await rolesOf(brand)).filter(([, role]) => role === "owner")).toHaveLength(1);
    }
  });
});

it("a brand that never had an owner may have members", async () => {
  const { brand } = await served.accounts.createBrand({ name: "New", tier: "plus", verified: true });
  const ownerless = { id: brand?.id ?? "", owner: "" };
  await add(ownerless, "ana@example.ph");
  await remove(ownerless, "ana@example.ph");
  expect(await rolesOf(ownerless)).toEqual([]);
});

describe("a member who acts", () => {
  const addAs = ({ id }: TestBrand, acting_member: string, email: string, role = "member") =>
    served.accounts.addMember({ brand_id: id, email, role, acting_member });
  const removeAs = ({ id }: TestBrand, acting_member: string, email: string) =>
    served.accounts.removeMember({ brand_id: id, email, acting_member });

  it("adds and removes members as an owner", async () => {
    const brand = await served.createBrand();
    await addAs(brand, brand.owner.toUpperCase(), "ana@example.ph", "owner");
    await removeAs(brand, "ana@example.ph", brand.owner);
    expect(await rolesOf(brand)).toEqual([["ana@example.ph", "owner"]]);
  });

  it("changes nothing as a member, a stranger or another brand's owner", async () => {
    const [brand, other] = [await served.createBrand(), await served.createBrand()];
    await add(brand, "ana@example.ph");
    for (const acting of ["ana@example.ph", "stranger@example.ph", other.owner]) {
      await expectRefusal(addAs(brand, acting, acting, "owner"), "owner_required");
      await expectRefusal(setRole(brand, acting, "owner", acting), "owner_required");
      await expectRefusal(removeAs(brand, acting, brand.owner), "owner_required");
    }
    expect(await rolesOf(brand)).toEqual([
      ["ana@example.ph", "member"],
      [brand.owner, "owner"],
    ]);
  });

  it("leaves the brand, though no owner, and removes no other member by it", async () => {
    const [brand, other] = [await served.createBrand(), await served.createBrand()];
    await add(brand, "ana@example.ph");
    await add(brand, "zoe@example.ph");
    await add(other, "ana@example.ph");
    await expectRefusal(removeAs(brand, "ana@example.ph", "zoe@example.ph"), "owner_required");
    await removeAs(brand, "Ana@example.ph", "ana@example.ph");
    expect((await rolesOf(brand)).map(([email]) => email)).toEqual([brand.owner, "zoe@example.ph"].toSorted());
    expect(await rolesOf(other)).toContainEqual(["ana@example.ph", "member"]);
    await expectRefusal(removeAs(brand, "ana@example.ph", "ana@example.ph"), "not_found", "email");
  });

  it("is never the operator by an empty address", async () => {
    const brand = await served.createBrand();
    await expectRefusal(addAs(brand, "", "ana@example.ph", "owner"), "invalid_request", "acting_member");
  });

  it("cannot leave the brand without an owner, alone or together", async () => {
    const brand = await served.createBrand();
    await expectRefusal(removeAs(brand, brand.owner, brand.owner), "last_owner");
    await add(brand, "ana@example.ph", "owner");
    await Promise.allSettled([removeAs(brand, brand.owner, "ana@example.ph"), removeAs(brand, "ana@example.ph", brand.owner)]);
    expect(await rolesOf(brand)).toEqual([[expect.any(String), "owner"]]);
  });
});

it("lists a person's memberships, in whatever case the address is given, and none of a stranger's", async () => {
  const [one, two] = [await served.createBrand(), await served.createBrand({ tier: "pro" })];
  await add(one, "lia@example.ph");
  await add(two, "lia@example.ph", "owner");
  const { memberships } = await served.accounts.listMemberships({ email: "LIA@example.ph" });
  expect(memberships).toEqual([
    { brand_id: one.id, brand_name: "Tindahan", tier: "plus", verified: true, role: "member" },
    { brand_id: two.id, brand_name: "Tindahan", tier: "pro", verified: true, role: "owner" },
  ]);
  expect(await served.accounts.listMemberships({ email: "stranger@example.ph" })).toEqual({ memberships: [] });
});

it("does not repeat a change of role whose answer is lost: an owner who has become a member would be refused what is done", async () => {
  const brand = await served.createBrand();
  await add(brand, "ana@example.ph", "owner");
  const { token } = await served.signIn.createSignInLink({ email: brand.owner, ttl_seconds: 0 });
  const { session } = await served.signIn.redeemSignInLink({ token });
  const { grants } = await served.sessions.getSession({ token: session?.token ?? "", with_grants: true, brand_id: brand.id });
  const { accounts } = await served.alsoWith({ db: losingCommitAnswer(served.db) });
  const change = { brand_id: brand.id, email: brand.owner, role: "member" };
  await expectRefusal(accounts.setMemberRole(change, { ...callContext(), grants }), "unavailable");
  expect(await rolesOf(brand)).toContainEqual([brand.owner, "member"]);
});
