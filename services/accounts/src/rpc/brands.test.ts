import { newId } from "@brand-records/ids";
import { expectRefusal, servedAccounts } from "../../test/serve-accounts.ts";

const served = servedAccounts();

const create = (brand: { name?: string; tier?: string; verified?: boolean; id?: string | null }) =>
  served.accounts.createBrand({ name: "Tindahan", tier: "plus", verified: true, ...brand });

describe("createBrand", () => {
  it("generates an id if none is given, and trims the name", async () => {
    const { brand } = await create({ name: "  Kape at Iba pa ☕ ", tier: "starter", verified: false });
    expect(brand).toMatchObject({
      id: expect.stringMatching(/^brd_[0-9a-z]{26}$/),
      name: "Kape at Iba pa ☕",
      tier: "starter",
      verified: false,
    });
    expect(await served.accounts.getBrand({ brand_id: brand?.id ?? "" })).toEqual({ brand });
  });

  it("returns the existing brand unchanged when repeated", async () => {
    const id = newId("brd");
    const first = await create({ id, tier: "pro" });
    expect(await create({ id, tier: "starter", verified: false })).toEqual(first);
  });

  it("creates one brand from eight concurrent requests for the same id", async () => {
    const id = newId("brd");
    const responses = await Promise.all(Array.from({ length: 8 }, () => create({ id })));
    expect(new Set(responses.map(({ brand }) => JSON.stringify(brand))).size).toBe(1);
  });

  it("refuses an id that another brand has", async () => {
    const id = newId("brd");
    await create({ id });
    await expectRefusal(create({ id, name: "Another" }), "already_exists", "id");
  });

  it("reports every problem in one error", async () => {
    await expect(create({ name: " ", tier: "gold", id: "BRD_1" })).rejects.toMatchObject({
      kind: "invalid_request",
      details: [
        { field: "name", message: "must not be empty" },
        { field: "tier", message: "must be one of starter, plus, pro, enterprise" },
        { field: "id", message: "must be brd_ and 1 to 40 lower-case letters or digits" },
      ],
    });
  });

  it.each([
    ["longer than 200 characters", "x".repeat(201)],
    ["with a control character within", "Tin\u0000dahan"],
    ["of white space only", "\t \n"],
    ["of one zero-width space", "\u200B"],
    ["that turns text around", "Tindahan \u202Eevil"],
  ])("refuses a name %s", async (_, name) => {
    await expectRefusal(create({ name }), "invalid_request", "name");
  });

  it("accepts a name of exactly 200 characters", async () => {
    expect((await create({ name: ` ${"x".repeat(200)} ` })).brand?.name).toHaveLength(200);
  });
});

describe("a brand that does not exist", () => {
  it.each(["brd_unknown", "", "nonsense", "brd_\u0000"])(
    "returns not_found or invalid_request, never internal_error, for %j",
    async (id) => {
      const refusal = expect.objectContaining({ kind: expect.stringMatching(/^(not_found|invalid_request)$/), field: "brand_id" });
      await expect(served.accounts.getBrand({ brand_id: id })).rejects.toEqual(refusal);
      await expect(served.accounts.setBrandTier({ brand_id: id, tier: "pro" })).rejects.toEqual(refusal);
      await expect(served.accounts.setBrandVerified({ brand_id: id, verified: true })).rejects.toEqual(refusal);
      await expect(served.accounts.listMembers({ brand_id: id })).rejects.toEqual(refusal);
      await expect(served.accounts.listKeys({ brand_id: id, ids: [] })).rejects.toEqual(refusal);
    },
  );
});

describe("setBrandTier and setBrandVerified", () => {
  it("return the changed brand, each time with a higher epoch", async () => {
    const { brand } = await create({});
    const upgraded = await served.accounts.setBrandTier({ brand_id: brand?.id ?? "", tier: "enterprise" });
    expect(upgraded.brand).toMatchObject({ tier: "enterprise", verified: true });
    const unverified = await served.accounts.setBrandVerified({ brand_id: brand?.id ?? "", verified: false });
    expect(unverified.brand).toMatchObject({ tier: "enterprise", verified: false });
    const epochs = [brand, upgraded.brand, unverified.brand].map((each) => each?.epoch ?? 0);
    expect(epochs).toEqual([...new Set(epochs)].toSorted((a, b) => a - b));
    const read = await served.accounts.getBrand({ brand_id: brand?.id ?? "" });
    expect(read.brand).toEqual(unverified.brand);
  });

  it("refuse an unknown tier and leave the brand unchanged", async () => {
    const before = await create({});
    const brand_id = before.brand?.id ?? "";
    await expectRefusal(served.accounts.setBrandTier({ brand_id, tier: "gold" }), "invalid_request", "tier");
    expect(await served.accounts.getBrand({ brand_id })).toEqual(before);
  });
});

describe("listBrands", () => {
  it("returns every brand once, in order of id, in pages of any size", async () => {
    const made = await Promise.all(Array.from({ length: 7 }, () => create({})));
    for (const page_size of [1, 3, 1_000]) {
      const seen: string[] = [];
      for (let after_id: string | null | undefined = ""; after_id != null;) {
        const page: Awaited<ReturnType<typeof served.accounts.listBrands>> = await served.accounts.listBrands({ page_size, after_id });
        seen.push(...page.brands.map(({ id }) => id));
        after_id = page.next_after_id;
      }
      expect(seen).toEqual([...new Set(seen)].toSorted());
      expect(seen).toEqual(expect.arrayContaining(made.map(({ brand }) => brand?.id)));
    }
  });

  it.each([-1, 1_001])("refuses a page size of %i", async (page_size) => {
    await expectRefusal(served.accounts.listBrands({ page_size }), "invalid_request", "page_size");
  });

  it("refuses an after_id that is not a brand's id", async () => {
    await expectRefusal(served.accounts.listBrands({ page_size: 1, after_id: "brd_\u0000" }), "invalid_request", "after_id");
  });
});
