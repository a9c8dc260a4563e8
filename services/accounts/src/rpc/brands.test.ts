import { newId } from "@brand-records/ids";
import { expectRefusal, servedAccounts } from "../../test/serve-accounts.ts";

const served = servedAccounts();

const create = (brand: { name?: string; tier?: string; verified?: boolean; id?: string | null; cell?: string } = {}) =>
  served.accounts.createBrand({ name: "Tindahan", tier: "plus", verified: true, ...brand });
const get = (brand_id: string) => served.accounts.getBrand({ brand_id });

describe("createBrand", () => {
  it("generates an id if none is given, and trims the name", async () => {
    const { brand } = await create({ name: "  Kape at Iba pa ☕ ", tier: "starter", verified: false });
    const id = expect.stringMatching(/^brd_[0-9a-z]{26}$/) as string;
    expect(brand).toMatchObject({ id, name: "Kape at Iba pa ☕", tier: "starter", verified: false });
    expect(await get(brand?.id ?? "")).toEqual({ brand });
  });

  it("returns the existing brand unchanged when repeated, also to eight calls at once, but not under another name", async () => {
    const id = newId("brd");
    const responses = await Promise.all(Array.from({ length: 8 }, () => create({ id, tier: "pro" })));
    responses.push(await create({ id, tier: "starter", verified: false }));
    for (const response of responses) expect(response).toEqual(responses[0]);
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

  it("accepts a name of exactly 200 characters, and no longer one", async () => {
    expect((await create({ name: ` ${"x".repeat(200)} ` })).brand?.name).toHaveLength(200);
    await expectRefusal(create({ name: "x".repeat(201) }), "invalid_request", "name");
  });
});

it.each([
  ["brd_unknown", "not_found"],
  ["", "invalid_request"],
  ["nonsense", "invalid_request"],
  ["brd_\u0000", "invalid_request"],
])("finds no brand by the id %j: %s", async (brand_id, kind) => {
  const { accounts } = served;
  const calls = [
    get(brand_id),
    accounts.setBrandTier({ brand_id, tier: "pro" }),
    accounts.setBrandVerified({ brand_id, verified: true }),
    accounts.listMembers({ brand_id }),
    accounts.listKeys({ brand_id, ids: [] }),
  ];
  await Promise.all(calls.map((call) => expectRefusal(call, kind, "brand_id")));
});

it("setBrandTier and setBrandVerified return the changed brand, and refuse an unknown tier", async () => {
  const { brand: first } = await create();
  const brand_id = first?.id ?? "";
  const { brand: upgraded } = await served.accounts.setBrandTier({ brand_id, tier: "enterprise" });
  expect(upgraded).toMatchObject({ tier: "enterprise", verified: true });
  const { brand: unverified } = await served.accounts.setBrandVerified({ brand_id, verified: false });
  expect(unverified).toMatchObject({ tier: "enterprise", verified: false });
  await expectRefusal(served.accounts.setBrandTier({ brand_id, tier: "gold" }), "invalid_request", "tier");
  expect((await get(brand_id)).brand).toEqual(unverified);
});

it("createBrand says in which cell the records are, by a name that a cell can have", async () => {
  expect((await create({ cell: "b" })).brand).toMatchObject({ cell: "b" });
  await expectRefusal(create({ cell: "C 1" }), "invalid_request", "cell");
});

describe("listBrands", () => {
  it("returns every brand once, in order of id, in pages of any size", async () => {
    const made = await Promise.all(Array.from({ length: 7 }, () => create()));
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

  it("refuses a page size beyond 1,000, and an after_id that is not a brand's id", async () => {
    for (const page_size of [-1, 1_001]) await expectRefusal(served.accounts.listBrands({ page_size }), "invalid_request", "page_size");
    await expectRefusal(served.accounts.listBrands({ page_size: 1, after_id: "brd_\u0000" }), "invalid_request", "after_id");
  });
});
