import { HeldEvents } from "./held-events.ts";

const event = (record: string, seq: number) => ({ record, seq });

it("holds later events of a held record only, and gives them in order when their time has come", () => {
  const held = new HeldEvents();
  held.hold(event("a", 1), 7, 100);
  expect([held.holdBehind(event("a", 3)), held.holdBehind(event("b", 2))]).toEqual([true, false]);
  expect(held.due(99, 10)).toEqual([]);
  expect([held.dueInMs(40), held.dueInMs(100), held.size]).toEqual([60, 0, 2]);
  expect(held.due(100, 10)).toEqual([event("a", 1), event("a", 3)]);
  held.hold(event("a", 1), 7, 200);
  expect([held.due(150, 10), held.size]).toEqual([[], 2]);
  for (const each of held.due(200, 10)) held.release(each);
  expect([held.size, held.dueInMs(0), held.holdBehind(event("a", 4))]).toEqual([0, Infinity, false]);
});

it("gives each holder its share, so that a partition with many events does not hide one that works again", () => {
  const held = new HeldEvents();
  for (let seq = 1; seq <= 1_000; seq += 1) held.hold(event(`a${seq}`, seq), 1, 0);
  held.hold(event("b", 1_001), 2, 0);
  expect(held.due(0, 10)).toContainEqual(event("b", 1_001));
  expect(held.due(0, 10)).toHaveLength(6);
});

it("holds a record by its own event once that is too large, and the others of its partition no longer with it", () => {
  const held = new HeldEvents();
  for (const [record, seq] of [
    ["a", 1],
    ["b", 2],
    ["a", 3],
  ] as const)
    held.hold(event(record, seq), 1, 0);
  held.hold(event("a", 1), "a", 500);
  expect([held.tooLarge, held.size]).toEqual([1, 3]);
  expect(held.due(0, 10)).toEqual([event("b", 2)]);
  held.release(event("b", 2));
  expect(held.due(500, 10)).toEqual([event("a", 1), event("a", 3)]);
  // The topic takes it, but its partition has lost its leader.
  held.hold(event("a", 1), 1, 600);
  expect([held.tooLarge, held.size, held.due(599, 10)]).toEqual([0, 2, []]);
});

it("forgets an event that has left the outbox otherwise", () => {
  const held = new HeldEvents();
  held.hold(event("a", 1), 1, 0);
  held.holdBehind(event("a", 2));
  held.release(event("a", 1));
  held.release(event("a", 9));
  expect(held.due(0, 10)).toEqual([event("a", 2)]);
});
