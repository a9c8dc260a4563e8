import { eventually } from "@brand-records/testkit";
import { KeptEpochs, startTestRepublisher } from "../../test/kept-epochs.ts";
import { expectRefusal, servedAccounts, type TestBrand } from "../../test/serve-accounts.ts";

/** Each published epoch, and whether the brand's row already had it: whether the change was committed. */
let published: { epoch: number; committed: boolean }[] = [];

class WitnessPublisher extends KeptEpochs {
  override async publish(brandId: string, epoch: number): Promise<boolean> {
    if (!(await super.publish(brandId, epoch))) return false;
    const [row] = await served.db.query<{ epoch: number }>("select epoch from accounts.brands where id = $1", [brandId]);
    published.push({ epoch, committed: row?.epoch === epoch });
    return true;
  }
}

const publisher = new WitnessPublisher();
const served = servedAccounts(() => ({ epochs: publisher }));
let brand: TestBrand;
beforeEach(async () => {
  brand = await served.createBrand();
  published = [];
});
afterEach(() => {
  publisher.isUnavailable = false;
});

const setTier = (tier: string) => served.accounts.setBrandTier({ brand_id: brand.id, tier });
const setVerified = () => served.accounts.setBrandVerified({ brand_id: brand.id, verified: false });
const revoke = (key_id: string) => served.accounts.revokeKey({ key_id, revoked_by: brand.owner });

it.each<[string, (keyId: string) => Promise<unknown>]>([
  ["the tier", () => setTier("pro")],
  ["the verification", setVerified],
  ["a new key", () => served.createKey(brand)],
  ["a revocation", revoke],
])("%s raises the epoch and publishes it before the commit, and again before the call returns", async (_, change) => {
  const { id } = await served.createKey(brand);
  published = [];
  const before = await served.epochOf(brand);
  await change(id);
  const after = await served.epochOf(brand);
  expect(after).toBeGreaterThan(before);
  expect(published).toEqual([
    { epoch: after, committed: false },
    { epoch: after, committed: true },
  ]);
});

it("raises the epoch with each of several concurrent changes", async () => {
  const before = await served.epochOf(brand);
  // The publisher reads through the same pool, so the changes may take less than half of its connections.
  await Promise.all(Array.from({ length: 4 }, () => served.createKey(brand)));
  const epochs = [...new Set(published.map(({ epoch }) => epoch))];
  expect(epochs).toHaveLength(4);
  expect(Math.min(...epochs)).toBeGreaterThan(before);
  expect(await served.epochOf(brand)).toBe(Math.max(...epochs));
});

it("follows the clock, so that a brand created again under its old id never repeats an epoch", async () => {
  await served.accounts.setBrandVerified({ brand_id: brand.id, verified: true });
  const [{ now } = { now: Number.NaN }] = await served.db.query<{ now: number }>(
    "select (extract(epoch from epoch_changed_at) * 1000)::bigint as now from accounts.brands where id = $1",
    [brand.id],
  );
  expect(await served.epochOf(brand)).toBeGreaterThanOrEqual(now - 1);
});

it("raises the epoch by one if the clock went back", async () => {
  const ahead = Date.now() + 3_600_000;
  await served.db.query("update accounts.brands set epoch = $2 where id = $1", [brand.id, ahead]);
  await setTier("pro");
  expect(await served.epochOf(brand)).toBe(ahead + 1);
});

it("neither raises nor publishes an epoch when the change is refused", async () => {
  const before = await served.epochOf(brand);
  const request = { brand_id: brand.id, name: "Reports", environment: "live", permissions: [], created_by: "stranger@example.ph" };
  await expectRefusal(served.accounts.createKey(request), "owner_required");
  expect(await served.epochOf(brand)).toBe(before);
  expect(published).toEqual([]);
});

describe("while Redis is unavailable", () => {
  const untilMs = ({ may_be_accepted_until: until }: { readonly may_be_accepted_until?: string | null | undefined }): number =>
    Date.parse(until ?? "");
  const nowMs = async (): Promise<number> => {
    const [row] = await served.db.query<{ ms: number }>("select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms");
    return row?.ms ?? Number.NaN;
  };

  it.each([
    ["the tier", () => setTier("starter")],
    ["the verification", setVerified],
    ["a revocation", revoke],
  ])("%s is published once before and once after the commit, and says until when a gateway may not know: 31 s", async (_, change) => {
    const { id } = await served.createKey(brand);
    publisher.tries.length = 0;
    publisher.isUnavailable = true;
    const before = await nowMs();
    const until = untilMs(await change(id));
    expect(until).toBeGreaterThanOrEqual(Math.floor(before) + 31_000);
    expect(until).toBeLessThanOrEqual((await nowMs()) + 31_001);
    expect(publisher.tries).toHaveLength(2);
    publisher.isUnavailable = false;
    expect((await setTier("pro")).may_be_accepted_until ?? null).toBeNull();
  });

  it("a revocation that is repeated says so for as long as it is true, and no longer", async () => {
    const { id } = await served.createKey(brand);
    publisher.isUnavailable = true;
    const first = await revoke(id);
    expect(untilMs(await revoke(id))).toBeGreaterThanOrEqual(untilMs(first));
    const [old, cached] = [await served.createKey(brand), await served.createKey(brand)];
    await served.db.query("update accounts.keys set revoked_at = now() - interval '63 s', revoked_by = 'x' where id = $1", [old.id]);
    await served.db.query("update accounts.keys set revoked_at = now() - interval '30 s', revoked_by = 'x' where id = $1", [cached.id]);
    expect(await revoke(old.id)).toMatchObject({ key: { revoked_by: "x" } });
    expect(untilMs(await revoke(old.id))).toBeNaN();
    expect(untilMs(await revoke(cached.id))).not.toBeNaN();
  });

  it("the row is not locked afterwards, and the epoch is published when Redis is back", async () => {
    const { id } = await served.createKey(brand);
    published = [];
    publisher.isUnavailable = true;
    await revoke(id);
    await served.db.query("update accounts.brands set name = 'Not locked' where id = $1", [brand.id]);
    const republisher = startTestRepublisher(served.db, publisher);
    publisher.isUnavailable = false;
    const epoch = await served.epochOf(brand);
    await eventually(() => expect(published).toContainEqual({ epoch, committed: true }));
    await republisher.stop();
  });
});

it("rolls the change back when publishing fails with an unknown error", async () => {
  const { brand: before } = await served.accounts.getBrand({ brand_id: brand.id });
  const publish = jest.spyOn(publisher, "publish").mockRejectedValue(new Error("WRONGTYPE"));
  const failed = { kind: "internal_error", message: expect.not.stringContaining("WRONGTYPE") as string };
  await expect(setTier("pro")).rejects.toMatchObject(failed);
  publish.mockRestore();
  expect((await served.accounts.getBrand({ brand_id: brand.id })).brand).toEqual(before);
});

it("keeps the epoch when members change, because members do not affect what a key may do", async () => {
  const before = await served.epochOf(brand);
  await served.accounts.addMember({ brand_id: brand.id, email: "ana@example.ph", role: "member" });
  await served.accounts.removeMember({ brand_id: brand.id, email: "ana@example.ph" });
  expect(await served.epochOf(brand)).toBe(before);
});
