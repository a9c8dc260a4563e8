import { expectRefusal, servedAccounts } from "../../test/serve-accounts.ts";

const served = servedAccounts();

const findBrand = (id: string) => served.operator.findBrand({ id });

it("finds the brand of a key, revoked or not", async () => {
  const [brand, other] = [await served.createBrand(), await served.createBrand()];
  await served.createKey(other);
  const { id } = await served.createKey(brand);
  expect(await findBrand(id)).toEqual({ brand_id: brand.id });
  await served.accounts.revokeKey({ key_id: id, revoked_by: brand.owner });
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
    await expectRefusal(findBrand(id), "invalid_request", "id");
  },
);
