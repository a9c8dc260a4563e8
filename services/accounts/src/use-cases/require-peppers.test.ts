import { ConfigError } from "@brand-records/config";
import { callContext, pepper, serveAccounts, type ServedAccounts, type TestBrand } from "../../test/serve-accounts.ts";
import type { Pepper } from "../domain/key.ts";
import { requirePeppers } from "./peppers.ts";

const [one, two, three] = [pepper(1), pepper(2), pepper(3)];

/** Serves one database with each pepper of its own. */
let served: ServedAccounts;
let brand: TestBrand;
beforeEach(async () => {
  served = await serveAccounts({ peppers: [one] });
  brand = await served.createBrand();
});
afterEach(() => served.stop());

/** Returns the problems that `requirePeppers` reports. Checks that they do not contain a pepper. */
async function problemsOf(peppers: readonly [Pepper, ...Pepper[]], environment: "live" | "test" = "live"): Promise<readonly string[]> {
  try {
    await requirePeppers({ db: served.db, peppers, environment });
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    for (const { bytes } of peppers) expect((error as ConfigError).message).not.toContain(bytes.toString("base64").slice(0, 8));
    return (error as ConfigError).problems;
  }
  return [];
}

it("accepts any peppers while there is no key", async () => {
  expect(await problemsOf([three])).toEqual([]);
});

it("names every missing pepper, how many keys need it, and the fix", async () => {
  await served.createKey(brand);
  await served.createKey(brand);
  await (await served.alsoWith({ peppers: [two, one] })).createKey(brand);
  expect(await problemsOf([three])).toEqual([
    expect.stringMatching(/^KEY_PEPPERS: pepper 1 is missing, .* \(2\) .*put 1:… back/),
    expect.stringMatching(/^KEY_PEPPERS: pepper 2 is missing, .* \(1\) .*put 2:… back/),
  ]);
  expect(await problemsOf([three, two])).toHaveLength(1);
  expect(await problemsOf([three, two, one])).toEqual([]);
});

it("does not count revoked keys, nor those of another environment", async () => {
  const { id } = await served.createKey(brand);
  await served.createKey(brand, { environment: "test" });
  await served.accounts.revokeKey({ key_id: id, brand_id: brand.id, revoked_by: brand.owner }, callContext());
  expect(await problemsOf([two])).toEqual([]);
  expect(await problemsOf([two], "test")).toHaveLength(1);
});
