import { generateKey, keyDigest } from "@brand-records/api-key";
import type { AppError } from "@brand-records/errors";
import { callContext, pepper, serveAccounts, type ServedAccounts } from "../../test/serve-accounts.ts";

const used: string[] = [];
let served: ServedAccounts;
beforeAll(async () => {
  served = await serveAccounts({ noteUse: (keyId) => void used.push(keyId) });
});
afterAll(() => served.stop());

const verify = (secret: string, by: ServedAccounts = served) =>
  by.verification.verifyKey({ key_sha256: keyDigest(secret) }, callContext()).then(({ principal }) => principal);

it("answers what the key may do, and its brand as it is at this moment", async () => {
  const brand = await served.createBrand({ tier: "pro" });
  const { id, secret } = await served.createKey(brand, { permissions: ["campaigns:prepare"] });
  const principal = {
    key_id: id,
    key_name: "Reports",
    permissions: ["records:read", "campaigns:prepare"],
    brand_id: brand.id,
    tier: "pro",
    verified: true,
    epoch: await served.epochOf(brand),
  };
  expect(await verify(secret)).toEqual(principal);
  await served.accounts.setBrandTier({ brand_id: brand.id, tier: "starter" }, callContext());
  await served.accounts.setBrandVerified({ brand_id: brand.id, verified: false }, callContext());
  const after = await verify(secret);
  expect(after).toEqual({ ...principal, tier: "starter", verified: false, epoch: await served.epochOf(brand) });
  expect(after?.epoch).toBeGreaterThan(principal.epoch);
});

it("answers unknown, revoked and other-environment keys one and the same, so nothing can be learned from it", async () => {
  const brand = await served.createBrand();
  const revoked = await served.createKey(brand);
  await served.accounts.revokeKey({ key_id: revoked.id, revoked_by: brand.owner }, callContext());
  const ofOtherEnvironment = await served.createKey(brand, { environment: "test" });
  const refusals = await Promise.all(
    [generateKey("live"), revoked.secret, ofOtherEnvironment.secret].map((secret) =>
      verify(secret).then(
        () => "verified",
        ({ kind, message, field, details }: AppError) => ({ kind, message, field, details }),
      ),
    ),
  );
  expect(refusals[0]).toMatchObject({ kind: "invalid_key" });
  expect(refusals).toEqual([refusals[0], refusals[0], refusals[0]]);
});

it("verifies test keys where the environment is test, and live keys not", async () => {
  const brand = await served.createBrand();
  const [live, test] = [await served.createKey(brand), await served.createKey(brand, { environment: "test" })];
  const sandbox = await served.alsoWith({ environment: "test" });
  expect(await verify(test.secret, sandbox)).toMatchObject({ key_id: test.id });
  await expect(verify(live.secret, sandbox)).rejects.toMatchObject({ kind: "invalid_key" });
});

it("notes the use of a key that is valid, and of no other", async () => {
  const brand = await served.createBrand();
  const [kept, revoked] = [await served.createKey(brand), await served.createKey(brand)];
  await served.accounts.revokeKey({ key_id: revoked.id, revoked_by: brand.owner }, callContext());
  used.length = 0;
  await verify(kept.secret);
  await expect(verify(revoked.secret)).rejects.toMatchObject({ kind: "invalid_key" });
  expect(used).toEqual([kept.id]);
});

it.each([0, 31, 33])("refuses a digest of %i bytes", async (bytes) => {
  await expect(served.verification.verifyKey({ key_sha256: Buffer.alloc(bytes) }, callContext())).rejects.toMatchObject({
    kind: "invalid_request",
    field: "key_sha256",
  });
});

describe("peppers", () => {
  it("a key made under an older pepper is verified as long as that pepper is configured, and no longer", async () => {
    const [first, second] = [pepper(1), pepper(2)];
    const [one, both, two] = [
      await served.alsoWith({ peppers: [first] }),
      await served.alsoWith({ peppers: [second, first] }),
      await served.alsoWith({ peppers: [second] }),
    ];
    const brand = await served.createBrand();
    const older = await one.createKey(brand);
    const newer = await both.createKey(brand);
    expect(await verify(older.secret, both)).toMatchObject({ key_id: older.id });
    expect(await verify(newer.secret, both)).toMatchObject({ key_id: newer.id });
    expect(await verify(newer.secret, two)).toMatchObject({ key_id: newer.id });
    await expect(verify(older.secret, two)).rejects.toMatchObject({ kind: "invalid_key" });
    await expect(verify(newer.secret, one)).rejects.toMatchObject({ kind: "invalid_key" });
  });

  it("tell, for each key, which one it was made under", async () => {
    const both = await served.alsoWith({ peppers: [pepper(7), pepper(3)] });
    const { id } = await both.createKey(await served.createBrand());
    expect(await served.db.query("select pepper_version from accounts.keys where id = $1", [id])).toEqual([{ pepper_version: 7 }]);
  });
});

it("lets gateways cache a principal only where changes to its brand are published", async () => {
  const publishing = await served.alsoWith({ epochs: { publish: async () => true } });
  const { secret } = await served.createKey(await served.createBrand());
  const cacheable = async (by: ServedAccounts): Promise<boolean> =>
    (await by.verification.verifyKey({ key_sha256: keyDigest(secret) }, callContext())).cacheable;
  expect(await cacheable(publishing)).toBe(true);
  expect(await cacheable(served)).toBe(false);
});
