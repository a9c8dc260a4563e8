import { generateKey, keyDigest } from "@brand-records/ids";
import { VerificationServiceService } from "@brand-records/proto/accounts/v1";
import { connectRpc } from "@brand-records/rpc";
import { AnnouncedKeys } from "@brand-records/service-runtime";
import { openLog } from "@brand-records/telemetry";
import { callContext, expectRefusal, expectSameRefusal, pepper, servedAccounts, type ServedAccounts } from "../../test/serve-accounts.ts";
import { heldPeppers } from "../use-cases/peppers.ts";

const used: string[] = [];
const served = servedAccounts(() => ({ recordKeyUse: (keyId) => void used.push(keyId) }));

const verify = (secret: string, by: ServedAccounts = served) =>
  by.verification.verifyKey({ key_sha256: keyDigest(secret) }).then(({ principal }) => principal);

it("returns what the key may do and the current state of its brand", async () => {
  const brand = await served.createBrand({ tier: "pro" });
  const { id, secret } = await served.createKey(brand, { permissions: ["campaigns:prepare"] });
  const principal = {
    key_id: id,
    key_name: "Reports",
    permissions: ["records:read", "campaigns:prepare"],
    brand_id: brand.id,
    brand_name: "Tindahan",
    tier: "pro",
    verified: true,
    epoch: await served.epochOf(brand),
    cell: null,
  };
  expect(await verify(secret)).toEqual(principal);
  await served.accounts.setBrandTier({ brand_id: brand.id, tier: "starter" });
  await served.accounts.setBrandVerified({ brand_id: brand.id, verified: false });
  const { move } = await served.operator.beginBrandMove({ brand_id: brand.id, cell: "b" });
  await served.operator.switchBrandMove({ brand_id: brand.id, started_at: move?.started_at ?? "" });
  const after = await verify(secret);
  expect(after).toEqual({ ...principal, tier: "starter", verified: false, cell: "b", epoch: await served.epochOf(brand) });
  expect(after?.epoch).toBeGreaterThan(principal.epoch);
});

it("refuses unknown, revoked and other-environment keys with the same error, so that it reveals nothing", async () => {
  const brand = await served.createBrand();
  const revoked = await served.createKey(brand);
  await served.accounts.revokeKey({ key_id: revoked.id, revoked_by: brand.owner });
  const otherEnvironment = await served.createKey(brand, { environment: "test" });
  await expectSameRefusal(
    [generateKey("live"), revoked.secret, otherEnvironment.secret].map((secret) => verify(secret)),
    "invalid_key",
  );
});

it("verifies only test keys where the environment is test", async () => {
  const brand = await served.createBrand();
  const [live, test] = [await served.createKey(brand), await served.createKey(brand, { environment: "test" })];
  const sandbox = await served.alsoWith({ environment: "test" });
  expect(await verify(test.secret, sandbox)).toMatchObject({ key_id: test.id });
  await expectRefusal(verify(live.secret, sandbox), "invalid_key");
});

it("records the use of valid keys only", async () => {
  const brand = await served.createBrand();
  const [kept, revoked] = [await served.createKey(brand), await served.createKey(brand)];
  await served.accounts.revokeKey({ key_id: revoked.id, revoked_by: brand.owner });
  used.length = 0;
  await verify(kept.secret);
  await expectRefusal(verify(revoked.secret), "invalid_key");
  expect(used).toEqual([kept.id]);
});

it("refuses a digest of another length", async () => {
  for (const bytes of [0, 31, 33])
    await expectRefusal(served.verification.verifyKey({ key_sha256: Buffer.alloc(bytes) }), "invalid_request", "key_sha256");
});

describe("peppers", () => {
  it("verify a key for as long as the pepper it was created with is configured", async () => {
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
    await expectRefusal(verify(older.secret, two), "invalid_key");
    await expectRefusal(verify(newer.secret, one), "invalid_key");
  });

  it("of new keys are the newest that every living process has", async () => {
    const [first, second] = [pepper(1), pepper(2)];
    const both = await served.alsoWith({ peppers: [second, first] });
    const versionOf = async ({ id }: { readonly id: string }) =>
      (await served.db.query<{ version: number }>("select pepper_version as version from accounts.keys where id = $1", [id]))[0]?.version;
    const brand = await served.createBrand();
    const log = openLog("accounts", "silent");
    const old = await AnnouncedKeys.start({ db: served.db, schema: "accounts", keys: heldPeppers([first]), log });
    expect(await versionOf(await both.createKey(brand))).toBe(1);
    await old.stop();
    expect(await versionOf(await both.createKey(brand))).toBe(2);
  });

  it("that a process may lack make it answer unavailable, so that callers try another one, not invalid_key", async () => {
    const late = await served.alsoWith({ peppers: [pepper(1)], mayMissKeys: () => true });
    const { secret } = await served.createKey(await served.createBrand());
    await expectRefusal(verify(secret, late), "unavailable");
    await expectRefusal(verify(generateKey("live"), late), "unavailable");
    const both = connectRpc(VerificationServiceService, `ipv4:${late.address},${served.address}`);
    for (let call = 0; call < 20; call++) {
      expect(await both.verifyKey({ key_sha256: keyDigest(secret) }, callContext())).toMatchObject({ principal: { key_name: "Reports" } });
    }
    both.stop();
    const lacking = await served.alsoWith({ mayMissKeys: () => true });
    // What it finds is valid all the same.
    expect(await verify(secret, lacking)).toMatchObject({ key_name: "Reports" });
  });
});

it("lets gateways cache a principal only where changes to its brand are published", async () => {
  const publishing = await served.alsoWith({ epochs: { publish: async () => true, forget: async () => true } });
  const { secret } = await served.createKey(await served.createBrand());
  const cacheable = async (by: ServedAccounts): Promise<boolean> =>
    (await by.verification.verifyKey({ key_sha256: keyDigest(secret) })).cacheable;
  expect(await cacheable(publishing)).toBe(true);
  expect(await cacheable(served)).toBe(false);
});
