import { newCallContext } from "@brand-records/rpc";
import { spanOf, TIME_RANGES } from "@brand-records/console-contract/time-ranges";
import { COMPOSED } from "./composed.ts";
import type { InBrand } from "./operation.ts";

afterEach(() => jest.useRealTimers());

it("counts the same 24 hours as the page of usage, such as a request that is 23 h 40 min old", async () => {
  const now = Date.parse("2026-11-22T10:05:00Z");
  jest.useFakeTimers({ now });
  const getUsage = jest.fn(async () => ({ buckets: [], clients: [] }));
  const services = {
    accounts: { listKeys: async () => ({ keys: [] }) },
    receivers: { listReceivers: async () => ({ receivers: [] }) },
    plans: { listPlanSummaries: async () => ({ plans: [], pending: 0, pending_max: 200 }) },
    usage: { getUsage },
  };
  const caller = { call: newCallContext(5_000, "test"), brand: { brand_id: "brd_1" }, person: { email: "ana@ulap.example" } };
  const { usage } = await COMPOSED["overview.get"](services as never, caller as unknown as InBrand, { brand_id: "brd_1" });
  const { from, to } = spanOf(TIME_RANGES.day, now);
  expect(from).toBeLessThan(now - (23 * 60 + 40) * 60_000);
  expect(usage?.from).toBe(new Date(from).toISOString());
  expect(getUsage).toHaveBeenCalledWith(expect.objectContaining({ from: usage?.from, to: new Date(to).toISOString() }), caller.call);
});

it("refuses to call a receiver enabled that was disabled again meanwhile", async () => {
  const receivers = { enableReceiver: async () => ({ receiver: { id: "rcv_1", enabled: false }, dropped: 3 }) };
  const caller = { call: newCallContext(5_000, "test") };
  const input = { brand_id: "brd_1", receiver_id: "rcv_1", held: "drop" };
  const enabling = COMPOSED["receivers.enable"]({ receivers } as never, caller as unknown as InBrand, input);
  await expect(enabling).rejects.toMatchObject({ kind: "request_conflict" });
});
