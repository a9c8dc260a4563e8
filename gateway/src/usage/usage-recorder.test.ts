import type { Clock } from "@brand-records/lifecycle";
import { AppError } from "@brand-records/errors";
import { type RecordUsageRequest, type RecordUsageResponse, ServedRequests } from "@brand-records/proto/accounts/v1";
import { openLog, openMetrics } from "@brand-records/telemetry";
import { eventually } from "@brand-records/testkit";
import { UsageCounts, type KeyedRequest } from "./usage-counts.ts";
import { startUsageRecorder, type UsageRecorder } from "./usage-recorder.ts";

const caller = { brand_id: "brd_1", key_id: "key_1" };
const HOUR_MS = 3_600_000;
const request: KeyedRequest = {
  ...caller,
  route: "GET /api/v1/payouts",
  http_status: 400,
  code: "invalid_parameter",
  field: "limit",
  isFailure: true,
  duration_ms: 40,
  request_id: "r1",
  client: "node",
};

/** Accounts keeps every request, and answers with `respond`. */
let requests: RecordUsageRequest[];
let respond: () => Promise<RecordUsageResponse>;
const RECORDED = { recorded: true, keeps_requests: true };
const accounts = {
  async recordUsage(request: RecordUsageRequest) {
    requests.push(structuredClone(request));
    return respond();
  },
};
const owned: UsageRecorder[] = [];
beforeEach(() => {
  requests = [];
  respond = async () => RECORDED;
});
afterEach(async () => {
  for (const recorder of owned.splice(0)) await recorder.stop();
});

const metrics = openMetrics("gateway");
const start = (flushMs: number, counts = new UsageCounts(), clock: Clock = Date): UsageRecorder => {
  metrics.clear();
  const recorder = startUsageRecorder({ accounts, clock, flushMs, log: openLog("gateway", "silent"), metrics, counts });
  owned.push(recorder);
  return recorder;
};
const totals = (): number => requests.flatMap(({ minutes }) => minutes).reduce((sum, { accepted, refused }) => sum + accepted + refused, 0);

it("records counts at every interval, and none where there are none", async () => {
  const recorder = start(5);
  recorder.count(caller, "accepted");
  await eventually(() => expect(totals()).toBe(1));
  recorder.count(caller, "refused");
  await eventually(() => expect(totals()).toBe(2));
  expect(requests.every(({ minutes }) => minutes.length > 0)).toBe(true);
});

it("counts by the clock that accounts keeps, which ignores minutes that are far ahead of it", async () => {
  const recorder = start(HOUR_MS, new UsageCounts(), { now: () => Date.parse("2026-11-24T08:00:30.000Z") });
  recorder.count(caller, "accepted");
  recorder.countMessage(caller, { declared: "cursor", callsTool: true });
  recorder.countRequest(request);
  await recorder.stop();
  const counted = requests.flatMap(({ minutes, failures, clients }) =>
    [...minutes, ...failures].map(({ minute }) => minute).concat(clients.map(({ day }) => day)),
  );
  expect(counted.toSorted()).toEqual(["2026-11-24", "2026-11-24T08:00:00.000Z", "2026-11-24T08:00:00.000Z"]);
});

it("records each request with its brand, and what of it failed", async () => {
  const recorder = start(HOUR_MS, new UsageCounts(), { now: () => Date.parse("2026-11-24T08:00:30.000Z") });
  recorder.countRequest(request);
  recorder.countRequest({ ...request, http_status: 200, code: "", field: "", isFailure: false, request_id: "r2" });
  await recorder.stop();
  const [{ failures, requests: [ofBrand] } = { failures: [], requests: [] }] = requests;
  expect(failures).toEqual([expect.objectContaining({ code: "invalid_parameter", requests: 1, request_ids: ["r1"] })]);
  expect([ofBrand?.brand_id, ofBrand?.count]).toEqual([caller.brand_id, 2]);
  const { brand_id: _, field: __, isFailure: ___, ...served } = request;
  expect(ServedRequests.decode(ofBrand?.requests ?? Buffer.alloc(0)).requests).toEqual([
    { ...served, at: "2026-11-24T08:00:29.960Z" },
    { ...served, at: "2026-11-24T08:00:29.960Z", http_status: 200, code: "", request_id: "r2" },
  ]);
});

it("collects no requests while accounts keeps none, as that of 1.0 does", async () => {
  const keeps = [true, false, false, true, true];
  respond = async () => ({ recorded: true, keeps_requests: keeps[requests.length - 1] ?? true });
  const recorder = start(5);
  for (let sent = 1; sent <= keeps.length; sent += 1) {
    recorder.count(caller, "accepted");
    recorder.countRequest(request);
    await eventually(() => expect(requests).toHaveLength(sent));
  }
  expect(requests.map(({ requests: ofBrands }) => ofBrands.length)).toEqual([1, 1, 0, 0, 1]);
  expect(requests.every(({ failures }) => failures.length === 1)).toBe(true);
});

it("makes one call at an interval, however many requests come during it, and records all of them at the stop", async () => {
  jest.useFakeTimers({ now: 0, doNotFake: ["nextTick", "queueMicrotask", "performance", "hrtime"] });
  try {
    const recorder = start(1_000);
    let during = 5;
    respond = async () => {
      if ((during -= 1) >= 0) recorder.count(caller, "accepted");
      return RECORDED;
    };
    recorder.count(caller, "accepted");
    for (const calls of [1, 2, 3]) {
      await jest.advanceTimersByTimeAsync(1_000);
      expect(requests).toHaveLength(calls);
    }
    await recorder.stop();
    expect([requests.length, totals()]).toEqual([6, 6]);
  } finally {
    jest.useRealTimers();
  }
});

it("records what is left when it stops", async () => {
  const recorder = start(HOUR_MS);
  for (let i = 0; i < 7; i += 1) recorder.count(caller, i % 2 === 0 ? "accepted" : "refused");
  expect(requests).toEqual([]);
  await recorder.stop();
  expect(requests.map(({ minutes }) => minutes)).toEqual([[expect.objectContaining({ ...caller, accepted: 4, refused: 3 })]]);
});

it("repeats a batch that failed unchanged under its id, then records what came since", async () => {
  respond = async () => {
    if (requests.length < 3) throw new AppError("unavailable", "Not now");
    return RECORDED;
  };
  const counts = new UsageCounts();
  const recorder = start(5, counts);
  recorder.count(caller, "accepted");
  await eventually(() => expect(requests.length).toBeGreaterThanOrEqual(1));
  recorder.count(caller, "accepted");
  await eventually(() => expect(requests.length).toBeGreaterThanOrEqual(4));
  const [first, second, third, next] = requests;
  expect([second, third]).toEqual([first, first]);
  expect(next?.batch_id).not.toBe(first?.batch_id);
  expect(next?.minutes.map(({ accepted }) => accepted)).toEqual([1]);
});

it("drops a batch that accounts refuses, so that it holds up no other", async () => {
  respond = async () => {
    if (requests.length === 1) throw new AppError("invalid_request", "No");
    return RECORDED;
  };
  const recorder = start(5);
  recorder.count(caller, "accepted");
  await eventually(() => expect(requests).toHaveLength(1));
  recorder.count({ ...caller, key_id: "key_2" }, "accepted");
  await eventually(() => expect(requests).toHaveLength(2));
  expect(requests[1]?.minutes.map(({ key_id }) => key_id)).toEqual(["key_2"]);
});

it("delays no count and no stop while accounts does not respond", async () => {
  const pending = Promise.withResolvers<RecordUsageResponse>();
  respond = () => pending.promise;
  const recorder = start(5);
  recorder.count(caller, "accepted");
  await eventually(() => expect(requests).toHaveLength(1));
  recorder.count(caller, "accepted");
  pending.resolve(RECORDED);
  await recorder.stop();
  expect(totals()).toBe(2);
});

it("reports requests that are dropped", async () => {
  const recorder = start(HOUR_MS, new UsageCounts(1));
  for (const key_id of ["key_1", "key_2", "key_3"]) recorder.count({ ...caller, key_id }, "accepted");
  expect(await metrics.metrics()).toMatch(/^usage_dropped_total(\{.*\})? 2$/m);
});
