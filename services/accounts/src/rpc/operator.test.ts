import { callContext, serveAccounts, type ServedAccounts } from "../../test/serve-accounts.ts";

let served: ServedAccounts;
beforeAll(async () => {
  served = await serveAccounts();
});
afterAll(() => served.stop());

const findBrand = (id: string) => served.operator.findBrand({ id }, callContext());

it("finds the brand of a key, revoked or not", async () => {
  const [brand, other] = [await served.createBrand(), await served.createBrand()];
  await served.createKey(other);
  const { id } = await served.createKey(brand);
  expect(await findBrand(id)).toEqual({ brand_id: brand.id });
  await served.accounts.revokeKey({ key_id: id, revoked_by: brand.owner }, callContext());
  expect(await findBrand(id)).toEqual({ brand_id: brand.id });
});

it("returns not_found for an unknown key", async () => {
  await expect(findBrand("key_unknown")).rejects.toMatchObject({
    kind: "not_found",
    message: "There is no key with this id",
    field: "id",
  });
});

it.each(["", "1", "pln_1", "brd_1", "KEY_1", "key_", "key_\0", `key_${"x".repeat(41)}`])(
  "refuses %j, which is not a key's id",
  async (id) => {
    await expect(findBrand(id)).rejects.toMatchObject({ kind: "invalid_request", field: "id" });
  },
);
