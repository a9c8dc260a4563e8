import { UsageServiceService } from "@brand-records/proto/accounts/v1";
import { connectRpc, type RpcClient } from "@brand-records/rpc";
import { eventually } from "@brand-records/testkit";
import { callContext, startStack, type Stack, type TestBrand } from "../stack.ts";

/** One promise: a brand's usage has every request that the rate limit decided on, of all gateways, by key. */

let stack: Stack;
let usage: RpcClient<UsageServiceService>;
beforeAll(async () => {
  stack = await startStack({ gateways: 2, env: { USAGE_FLUSH_SECONDS: "1" } });
  usage = connectRpc(UsageServiceService, stack.addresses.accounts);
}, 60_000);
afterAll(async () => {
  usage.stop();
  await stack.stop();
});

const HOUR_MS = 3_600_000;
const totalsOf = async ({ id, keyId }: TestBrand): Promise<{ accepted: number; refused: number }> => {
  const range = { from: new Date(Date.now() - HOUR_MS).toISOString(), to: new Date(Date.now() + HOUR_MS).toISOString() };
  const { buckets } = await usage.getUsage({ brand_id: id, ...range, bucket_minutes: 1_440, by_key: true }, callContext());
  const ofKey = buckets.filter(({ key_id }) => key_id === keyId);
  return {
    accepted: ofKey.reduce((sum, { accepted }) => sum + accepted, 0),
    refused: ofKey.reduce((sum, { refused }) => sum + refused, 0),
  };
};

it("counts accepted and refused requests of two gateways, on every path, but none without a valid key", async () => {
  const [brand, other] = [await stack.createBrand(), await stack.createBrand()];
  const path = (i: number): string => (i % 3 === 0 ? "/api/v1/nothing" : "/api/v1/links");
  const statuses = await Promise.all(Array.from({ length: 130 }, (_, i) => stack.get(path(i), brand.key, i % 2)));
  await stack.get("/api/v1/links", "brk_live_invalid");
  await stack.get("/docs", brand.key);
  // Each gateway without Redis has its own window of 60.
  const refused = statuses.filter(({ status }) => status === 429).length;
  expect(refused).toBe(10);
  await eventually(async () => expect(await totalsOf(brand)).toEqual({ accepted: 120, refused: 10 }));
  expect(await totalsOf(other)).toEqual({ accepted: 0, refused: 0 });
});

it("loses nothing while accounts is away, and counts nothing twice", async () => {
  const brand = await stack.createBrand();
  await stack.get("/api/v1/links", brand.key);
  await stack.processes.accounts.kill("SIGKILL");
  await eventually(() => expect(stack.gateways[0].process.output()).toContain("usage cannot be recorded"));
  await stack.restart("accounts");
  await eventually(async () => expect(await totalsOf(brand)).toEqual({ accepted: 1, refused: 0 }), { timeoutMs: 20_000 });
}, 60_000);

it("records what a gateway has counted when it stops", async () => {
  const brand = await stack.createBrand();
  await stack.get("/api/v1/links", brand.key, 1);
  await stack.gateways[1]?.process.kill();
  expect(await totalsOf(brand)).toEqual({ accepted: 1, refused: 0 });
});
