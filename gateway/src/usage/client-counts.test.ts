import { ClientCounts } from "./client-counts.ts";

const NOON = Date.UTC(2026, 10, 22, 4);
const of = (key: number, brand = 1) => ({ brand_id: `brd_${brand}`, key_id: `key_${key}` });

it("counts messages by key, day in Manila and name", () => {
  const counts = new ClientCounts();
  counts.add(of(1), "claude-code", NOON);
  counts.add(of(1), "claude-code", NOON + 11 * 3_600_000);
  counts.add(of(1), "cursor", NOON);
  counts.add(of(1), "claude-code", NOON + 12 * 3_600_000);
  counts.add(of(2, 2), "claude-code", NOON);
  expect(counts.size).toBe(4);
  expect(counts.take(10)).toEqual([
    { ...of(1), day: "2026-11-22", name: "claude-code", messages: 2 },
    { ...of(1), day: "2026-11-22", name: "cursor", messages: 1 },
    { ...of(1), day: "2026-11-23", name: "claude-code", messages: 1 },
    { ...of(2, 2), day: "2026-11-22", name: "claude-code", messages: 1 },
  ]);
  expect([counts.size, counts.take(10)]).toEqual([0, []]);
});

it("counts 20 names of a key and day apart, and the rest as other", () => {
  const counts = new ClientCounts();
  for (let name = 0; name < 30; name += 1) counts.add(of(1), `client-${name}`, NOON);
  counts.add(of(1), "client-0", NOON);
  counts.add(of(2), "client-29", NOON);
  const taken = counts.take(100);
  expect(taken).toHaveLength(22);
  expect(taken.filter(({ key_id, name }) => key_id === "key_1" && ["client-0", "client-19", "other"].includes(name))).toEqual([
    { ...of(1), day: "2026-11-22", name: "client-0", messages: 2 },
    { ...of(1), day: "2026-11-22", name: "client-19", messages: 1 },
    { ...of(1), day: "2026-11-22", name: "other", messages: 10 },
  ]);
  expect(taken.at(-1)).toMatchObject({ key_id: "key_2", name: "client-29" });
});

it("is taken in parts, each count once", () => {
  const counts = new ClientCounts();
  for (let key = 0; key < 5; key += 1) for (const name of ["a", "b"]) counts.add(of(key), name, NOON);
  const parts = [counts.take(3), counts.take(3), counts.take(3), counts.take(3)];
  expect(parts.map(({ length }) => length)).toEqual([3, 3, 3, 1]);
  expect(new Set(parts.flat().map(({ key_id, name }) => `${key_id} ${name}`)).size).toBe(10);
});

it("is bounded: drops names that are new, goes on counting the others, and recovers", () => {
  const counts = new ClientCounts(2);
  for (const key of [1, 2, 3, 1, 3]) counts.add(of(key), "a", NOON);
  expect([counts.size, counts.dropped]).toEqual([2, 2]);
  expect(counts.take(10).map(({ key_id, messages }) => [key_id, messages])).toEqual([
    ["key_1", 2],
    ["key_2", 1],
  ]);
  counts.add(of(3), "a", NOON);
  expect([counts.size, counts.dropped]).toEqual([1, 2]);
});
