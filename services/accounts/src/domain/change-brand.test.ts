import { eventually } from "@brand-records/testkit";
import type { EpochPublisher } from "../epochs/epoch-publisher.ts";
import { callContext, serveAccounts, type ServedAccounts, type TestBrand } from "../../test/serve-accounts.ts";

/** Writes down what is published, and whether the brand's row said the same at that moment: whether it was committed. */
class WitnessBoard implements EpochPublisher {
  published: { epoch: number; committed: boolean }[] = [];
  failure: Error | undefined;
  isAway = false;

  async publish(brandId: string, epoch: number): Promise<boolean> {
    if (this.failure !== undefined) throw this.failure;
    if (this.isAway) return false;
    const [row] = await served.db.query<{ epoch: number }>("select epoch from accounts.brands where id = $1", [brandId]);
    this.published.push({ epoch, committed: row?.epoch === epoch });
    return true;
  }
}

const board = new WitnessBoard();
let served: ServedAccounts;
let brand: TestBrand;
beforeAll(async () => {
  served = await serveAccounts({ epochs: board });
});
beforeEach(async () => {
  brand = await served.createBrand();
  board.published = [];
});
afterEach(() => {
  board.failure = undefined;
  board.isAway = false;
});
afterAll(() => served.stop());

const changes: [string, () => Promise<unknown>][] = [
  ["the tier", () => served.accounts.setBrandTier({ brand_id: brand.id, tier: "pro" }, callContext())],
  ["the verification", () => served.accounts.setBrandVerified({ brand_id: brand.id, verified: false }, callContext())],
  ["a new key", () => served.createKey(brand)],
  [
    "a revocation",
    async () => {
      const { id } = await served.createKey(brand);
      board.published = [];
      await served.accounts.revokeKey({ key_id: id, revoked_by: brand.owner }, callContext());
    },
  ],
];

it.each(changes)("%s raises the epoch; it is published before the commit, and again before the answer", async (_, change) => {
  const before = await served.epochOf(brand);
  await change();
  const after = await served.epochOf(brand);
  expect(after).toBeGreaterThan(before);
  expect(board.published).toEqual([
    { epoch: after, committed: false },
    { epoch: after, committed: true },
  ]);
});

it("raises the epoch with each of many simultaneous changes", async () => {
  const before = await served.epochOf(brand);
  // The witness reads through the same pool: fewer than half its connections.
  await Promise.all(Array.from({ length: 4 }, () => served.createKey(brand)));
  const epochs = [...new Set(board.published.map(({ epoch }) => epoch))];
  expect(epochs).toHaveLength(4);
  expect(Math.min(...epochs)).toBeGreaterThan(before);
  expect(await served.epochOf(brand)).toBe(Math.max(...epochs));
});

it("follows the clock, so that a brand made anew never repeats an epoch", async () => {
  await served.accounts.setBrandVerified({ brand_id: brand.id, verified: true }, callContext());
  const [{ now } = { now: Number.NaN }] = await served.db.query<{ now: number }>(
    "select (extract(epoch from epoch_changed_at) * 1000)::bigint as now from accounts.brands where id = $1",
    [brand.id],
  );
  expect(await served.epochOf(brand)).toBeGreaterThanOrEqual(now - 1);
});

it("rises by one where the clock went back", async () => {
  const ahead = Date.now() + 3_600_000;
  await served.db.query("update accounts.brands set epoch = $2 where id = $1", [brand.id, ahead]);
  await served.accounts.setBrandTier({ brand_id: brand.id, tier: "pro" }, callContext());
  expect(await served.epochOf(brand)).toBe(ahead + 1);
});

it("leaves the epoch, and tells nobody of one, when the change is refused", async () => {
  const before = await served.epochOf(brand);
  const byStranger = { brand_id: brand.id, name: "Reports", environment: "live", permissions: [], created_by: "nobody@example.ph" };
  await expect(served.accounts.createKey(byStranger, callContext())).rejects.toMatchObject({ kind: "owner_required" });
  expect(await served.epochOf(brand)).toBe(before);
  expect(board.published).toEqual([]);
});

it("goes on publishing after its caller has gone, and holds no row meanwhile", async () => {
  const { id } = await served.createKey(brand);
  board.published = [];
  board.isAway = true;
  const revoking = served.accounts.revokeKey({ key_id: id, revoked_by: brand.owner }, callContext(500));
  await expect(revoking).rejects.toMatchObject({ kind: "timeout" });
  const { keys } = await served.accounts.listKeys({ brand_id: brand.id }, callContext());
  expect(keys[0]?.revoked_at).toEqual(expect.any(String));
  await served.db.query("update accounts.brands set name = 'Not locked' where id = $1", [brand.id]);
  board.isAway = false;
  const epoch = await served.epochOf(brand);
  await eventually(() => expect(board.published).toEqual([{ epoch, committed: true }]));
});

it("takes the change back when it cannot be published for an unforeseen reason", async () => {
  const { brand: before } = await served.accounts.getBrand({ brand_id: brand.id }, callContext());
  board.failure = new Error("WRONGTYPE");
  await expect(served.accounts.setBrandTier({ brand_id: brand.id, tier: "pro" }, callContext())).rejects.toMatchObject({
    kind: "internal_error",
    message: expect.not.stringContaining("WRONGTYPE"),
  });
  expect((await served.accounts.getBrand({ brand_id: brand.id }, callContext())).brand).toEqual(before);
});

it("members come and go without touching the epoch: they are no part of what a key may do", async () => {
  const before = await served.epochOf(brand);
  await served.accounts.addMember({ brand_id: brand.id, email: "ana@example.ph", role: "member" }, callContext());
  await served.accounts.removeMember({ brand_id: brand.id, email: "ana@example.ph" }, callContext());
  expect(await served.epochOf(brand)).toBe(before);
});
