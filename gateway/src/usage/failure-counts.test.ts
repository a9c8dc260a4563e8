import { FailureCounts, type Failure } from "./failure-counts.ts";

const NOON = Date.UTC(2026, 10, 22, 4);
const failure = (request_id: string, more: Partial<Failure> = {}): Failure => ({
  brand_id: "brd_1",
  key_id: "key_1",
  route: "GET /api/v1/payouts",
  code: "invalid_parameter",
  field: "limit",
  request_id,
  ...more,
});

it("counts by minute, key, route, code and field, and keeps the last three request ids", () => {
  const counts = new FailureCounts();
  for (let n = 1; n <= 7; n += 1) counts.add(failure(`r${n}`), NOON + n);
  counts.add(failure("r8"), NOON + 60_000);
  for (const more of [{ key_id: "key_2" }, { route: "GET /api/v1/links" }, { code: "rate_limited" }, { field: "" }])
    counts.add(failure("r9", more), NOON);
  expect(counts.size).toBe(6);
  const { request_id: _, ...group } = failure("");
  expect(counts.take(2)).toEqual([
    { ...group, minute: "2026-11-22T04:00:00.000Z", requests: 7, request_ids: ["r5", "r6", "r7"] },
    { ...group, minute: "2026-11-22T04:01:00.000Z", requests: 1, request_ids: ["r8"] },
  ]);
  expect(counts.take(10)).toHaveLength(4);
  expect([counts.size, counts.take(10)]).toEqual([0, []]);
});

it("drops what it has no room for, and still counts what it has", () => {
  const counts = new FailureCounts(1);
  counts.add(failure("r1"), NOON);
  counts.add(failure("r2", { field: "" }), NOON);
  counts.add(failure("r3"), NOON);
  expect([counts.size, counts.dropped, counts.take(1)[0]?.requests]).toEqual([1, 1, 2]);
});
