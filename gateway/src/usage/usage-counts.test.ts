import { UsageCounts } from "./usage-counts.ts";

const NOON = Date.UTC(2026, 10, 22, 12);
const of = (key: number, brand = 1) => ({ brand_id: `brd_${brand}`, key_id: `key_${key}` });

it("counts accepted and refused requests by minute and key", () => {
  const counts = new UsageCounts();
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
  });
  expect(counts.takeBatch()).toBeUndefined();
});

it("takes batches that accounts accepts, each count once, with ids of their own", () => {
  const counts = new UsageCounts();
  for (let key = 0; key < 12_000; key += 1) counts.add(of(key), "accepted", NOON + (key % 2) * 60_000);
  const batches = [counts.takeBatch(), counts.takeBatch(), counts.takeBatch()];
  expect(batches.map((batch) => batch?.minutes.length)).toEqual([5_000, 5_000, 2_000]);
  expect(new Set(batches.map((batch) => batch?.batch_id)).size).toBe(3);
  expect(new Set(batches.flatMap((batch) => batch?.minutes.map(({ key_id }) => key_id))).size).toBe(12_000);
  expect([counts.takeBatch(), counts.size]).toEqual([undefined, 0]);
});

it("is bounded: drops keys that are new in a minute, goes on counting the others, and recovers", () => {
  const counts = new UsageCounts(2);
  for (const key of [1, 2, 3, 1, 3]) counts.add(of(key), "accepted", NOON);
  expect([counts.size, counts.dropped]).toEqual([2, 2]);
  expect(counts.takeBatch()?.minutes.map(({ key_id, accepted }) => [key_id, accepted])).toEqual([
    ["key_1", 2],
    ["key_2", 1],
  ]);
  counts.add(of(3), "accepted", NOON);
  expect([counts.size, counts.dropped]).toEqual([1, 2]);
});

it("counts what comes during a flush in the next batch", () => {
  const counts = new UsageCounts();
  counts.add(of(1), "accepted", NOON);
  counts.takeBatch();
  counts.add(of(1), "accepted", NOON + 1);
  expect(counts.takeBatch()?.minutes).toEqual([{ ...of(1), minute: "2026-11-22T12:00:00.000Z", accepted: 1, refused: 0 }]);
});

it("takes clients with the minutes, and after them what did not fit", () => {
  const counts = new UsageCounts();
  counts.add(of(1), "accepted", NOON);
  for (let key = 0; key < 5_001; key += 1) counts.clients.add(of(key), "claude-code", NOON);
  expect(counts.size).toBe(5_002);
  const batches = [counts.takeBatch(), counts.takeBatch()];
  expect(batches.map((batch) => [batch?.minutes.length, batch?.clients.length])).toEqual([
    [1, 5_000],
    [0, 1],
  ]);
  expect([counts.takeBatch(), counts.size]).toEqual([undefined, 0]);
});
