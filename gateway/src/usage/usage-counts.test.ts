import type { RecordUsageRequest } from "@brand-records/proto/accounts/v1";
import { type KeyedRequest, UsageCounts } from "./usage-counts.ts";

/** 20:00 in Manila. */
const NOON = Date.UTC(2026, 10, 22, 12);
const HOUR_MS = 3_600_000;
const of = (key: number, brand = 1) => ({ brand_id: `brd_${brand}`, key_id: `key_${key}` });
const call = (declared: string) => ({ declared, callsTool: true });
const failure = (request_id: string, more: Partial<KeyedRequest> = {}): KeyedRequest => ({
  ...of(1),
  route: "GET /api/v1/payouts",
  http_status: 400,
  code: "invalid_parameter",
  field: "limit",
  isFailure: true,
  duration_ms: 1,
  request_id,
  client: "node",
  ...more,
});

let counts: UsageCounts;
beforeEach(() => {
  counts = new UsageCounts();
});

it("counts accepted and refused requests by minute and key, once", () => {
  counts.add(of(1), "accepted", NOON);
  counts.add(of(1), "accepted", NOON + 59_999);
  counts.add(of(1), "refused", NOON + 1);
  counts.add(of(2, 2), "refused", NOON + 2);
  counts.add(of(1), "accepted", NOON + 60_000);
  expect(counts.takeBatch()).toEqual({
    batch_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    minutes: [
      { ...of(1), minute: "2026-11-22T12:00:00.000Z", accepted: 2, refused: 1 },
      { ...of(2, 2), minute: "2026-11-22T12:00:00.000Z", accepted: 0, refused: 1 },
      { ...of(1), minute: "2026-11-22T12:01:00.000Z", accepted: 1, refused: 0 },
    ],
    clients: [],
    failures: [],
    requests: [],
  });
  expect(counts.takeBatch()).toBeUndefined();
  counts.add(of(1), "accepted", NOON + 1);
  expect(counts.takeBatch()?.minutes).toMatchObject([{ accepted: 1, refused: 0 }]);
});

it("counts messages by key, day in Manila and name, and those apart that call no tool", () => {
  for (const now of [NOON, NOON + 3 * HOUR_MS, NOON + 4 * HOUR_MS]) counts.addMessage(of(1), call("claude-code"), now);
  counts.addMessage(of(1), { declared: "claude-code", callsTool: false }, NOON);
  counts.addMessage(of(1), call("cursor"), NOON);
  counts.addMessage(of(2, 2), call("claude-code"), NOON);
  expect(counts.takeBatch()?.clients).toEqual([
    { ...of(1), day: "2026-11-22", name: "claude-code", messages: 3, connecting: 1 },
    { ...of(1), day: "2026-11-23", name: "claude-code", messages: 1, connecting: 0 },
    { ...of(1), day: "2026-11-22", name: "cursor", messages: 1, connecting: 0 },
    { ...of(2, 2), day: "2026-11-22", name: "claude-code", messages: 1, connecting: 0 },
  ]);
});

it("counts 20 names of a key and day apart until they are taken, and the rest as other", () => {
  for (let round = 0; round < 2; round += 1) {
    for (let name = 0; name < 30; name += 1) counts.addMessage(of(1), call(`client-${name}`), NOON);
    counts.addMessage(of(1), call("client-0"), NOON);
    counts.addMessage(of(2), call("client-29"), NOON);
    const taken = counts.takeBatch()?.clients ?? [];
    expect(taken).toHaveLength(22);
    const byName = new Map(taken.filter(({ key_id }) => key_id === "key_1").map(({ name, messages }) => [name, messages]));
    expect(["client-0", "client-19", "client-20", "other"].map((name) => byName.get(name))).toEqual([2, 1, undefined, 10]);
    expect(taken.at(-1)).toMatchObject({ key_id: "key_2", name: "client-29" });
  }
});

it("counts failures by minute, key, route, code and field, and keeps the last three request ids", () => {
  for (let n = 1; n <= 7; n += 1) counts.addFailure(failure(`r${n}`), NOON + n);
  counts.addFailure(failure("r8"), NOON + 60_000);
  const others = [{ key_id: "key_2" }, { route: "GET /api/v1/links" }, { code: "rate_limited" }, { field: "" }];
  for (const more of others) counts.addFailure(failure("r9", more), NOON);
  expect(counts.size).toBe(6);
  const { brand_id, key_id, route, code, field } = failure("");
  const group = { brand_id, key_id, route, code, field };
  expect(counts.takeBatch()?.failures.slice(0, 2)).toEqual([
    { ...group, minute: "2026-11-22T12:00:00.000Z", requests: 7, request_ids: ["r5", "r6", "r7"] },
    { ...group, minute: "2026-11-22T12:01:00.000Z", requests: 1, request_ids: ["r8"] },
  ]);
});

it("takes batches that accounts accepts, each count once, with ids of their own", () => {
  for (let key = 0; key < 6_000; key += 1) {
    counts.add(of(key), "accepted", NOON);
    counts.addMessage(of(key), call("claude-code"), NOON);
    counts.addFailure(failure("r1", of(key)), NOON);
  }
  const batches: RecordUsageRequest[] = [];
  for (let batch = counts.takeBatch(); batch !== undefined; batch = counts.takeBatch()) batches.push(batch);
  const sizes = batches.map(({ minutes, clients, failures }) => [minutes.length, clients.length, failures.length]);
  expect(sizes).toEqual([
    [5_000, 5_000, 2_000],
    [1_000, 1_000, 2_000],
    [0, 0, 2_000],
  ]);
  expect(new Set(batches.map(({ batch_id }) => batch_id)).size).toBe(3);
  for (const kind of ["minutes", "clients", "failures"] as const)
    expect(new Set(batches.flatMap((batch) => batch[kind].map(({ key_id }) => key_id))).size).toBe(6_000);
  expect(counts.size).toBe(0);
});

it.each<[string, (key: number) => void, (batch: RecordUsageRequest | undefined) => [string, number][] | undefined]>([
  ["requests", (key) => counts.add(of(key), "accepted", NOON), (batch) => batch?.minutes.map((each) => [each.key_id, each.accepted])],
  ["messages", (key) => counts.addMessage(of(key), call("a"), NOON), (batch) => batch?.clients.map((each) => [each.key_id, each.messages])],
  [
    "failures",
    (key) => counts.addFailure(failure("r", of(key)), NOON),
    (batch) => batch?.failures.map((each) => [each.key_id, each.requests]),
  ],
])("is bounded: drops %s of what is new, goes on counting the others, and recovers", (_, add, countedIn) => {
  counts = new UsageCounts(2);
  for (const key of [1, 2, 3, 1, 3]) add(key);
  expect([counts.size, counts.dropped]).toEqual([2, 2]);
  expect(countedIn(counts.takeBatch())).toEqual([
    ["key_1", 2],
    ["key_2", 1],
  ]);
  add(3);
  expect([counts.size, counts.dropped]).toEqual([1, 2]);
});
