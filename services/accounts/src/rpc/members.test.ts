import { callContext, serveAccounts, type ServedAccounts, type TestBrand } from "../../test/serve-accounts.ts";

let served: ServedAccounts;
beforeAll(async () => {
  served = await serveAccounts();
});
afterAll(() => served.stop());

const add = ({ id }: TestBrand, email: string, role = "member") => served.accounts.addMember({ brand_id: id, email, role }, callContext());
const remove = ({ id }: TestBrand, email: string) => served.accounts.removeMember({ brand_id: id, email }, callContext());
const rolesOf = async ({ id }: TestBrand) => {
  const { members } = await served.accounts.listMembers({ brand_id: id }, callContext());
  return members.map(({ email, role }) => [email, role]);
};

it("knows a person by one address, in lower case, with one role", async () => {
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

it("removes nobody from another brand", async () => {
  const [ours, theirs] = [await served.createBrand(), await served.createBrand()];
  await add(ours, "ana@example.ph");
  await add(theirs, "ana@example.ph");
  await remove(ours, "ana@example.ph");
  expect(await rolesOf(theirs)).toContainEqual(["ana@example.ph", "member"]);
});

it("answers not_found for a member or a brand that is not there", async () => {
  const brand = await served.createBrand();
  await expect(remove(brand, "nobody@example.ph")).rejects.toMatchObject({ kind: "not_found", field: "email" });
  const nobodys = { id: "brd_nobody", owner: "" };
  await expect(remove(nobodys, "ana@example.ph")).rejects.toMatchObject({ kind: "not_found", field: "brand_id" });
  await expect(add(nobodys, "ana@example.ph")).rejects.toMatchObject({ kind: "not_found", field: "brand_id" });
});

it("tells every problem of a member at once", async () => {
  await expect(served.accounts.addMember({ brand_id: "1", email: "ana", role: "admin" }, callContext())).rejects.toMatchObject({
    kind: "invalid_request",
    details: [{ field: "brand_id" }, { field: "email" }, { field: "role" }],
  });
});

describe("the last owner", () => {
  it("cannot be removed", async () => {
    const brand = await served.createBrand();
    await add(brand, "ana@example.ph");
    await expect(remove(brand, brand.owner)).rejects.toMatchObject({ kind: "last_owner" });
    expect(await rolesOf(brand)).toContainEqual([brand.owner, "owner"]);
  });

  it("cannot be demoted", async () => {
    const brand = await served.createBrand();
    await expect(add(brand, brand.owner, "member")).rejects.toMatchObject({ kind: "last_owner" });
    expect(await rolesOf(brand)).toEqual([[brand.owner, "owner"]]);
  });

  it("may go once there is another", async () => {
    const brand = await served.createBrand();
    await add(brand, "ana@example.ph", "owner");
    await remove(brand, brand.owner);
    expect(await rolesOf(brand)).toEqual([["ana@example.ph", "owner"]]);
  });

  it("is one of two who remove each other at once", async () => {
    const brands = await Promise.all(Array.from({ length: 30 }, () => served.createBrand()));
    await Promise.all(brands.map((brand) => add(brand, "ana@example.ph", "owner")));
    for (const brand of brands) {
      const removals = await Promise.allSettled([remove(brand, brand.owner), remove(brand, "ana@example.ph")]);
      const refused = removals.filter(({ status }) => status === "rejected");
      expect(refused).toEqual([{ status: "rejected", reason: expect.objectContaining({ kind: "last_owner" }) }]);
      expect(await rolesOf(brand)).toEqual([[expect.any(String), "owner"]]);
    }
  });

  it("is one of two who demote each other at once", async () => {
    const brands = await Promise.all(Array.from({ length: 15 }, () => served.createBrand()));
    for (const brand of brands) {
      await add(brand, "ana@example.ph", "owner");
      await Promise.allSettled([add(brand, brand.owner, "member"), add(brand, "ana@example.ph", "member")]);
      expect((await rolesOf(brand)).filter(([, role]) => role === "owner")).toHaveLength(1);
    }
  });
});

it("a brand that never had an owner may have members without one", async () => {
  const { brand } = await served.accounts.createBrand({ name: "New", tier: "plus", verified: true }, callContext());
  const ownerless = { id: brand?.id ?? "", owner: "" };
  await add(ownerless, "ana@example.ph");
  await remove(ownerless, "ana@example.ph");
  expect(await rolesOf(ownerless)).toEqual([]);
});
