import { Room } from "./room.ts";
import { SLOW_MS, SlowReceivers, type TrackedAttempt } from "./slow-receivers.ts";

const MAX = 1_000;
/** Times of the tests, in milliseconds. */
const START = 10_000;
const LATER = START + SLOW_MS;

let receivers: SlowReceivers;
let inFlight: number;
beforeEach(() => {
  receivers = new SlowReceivers(MAX);
  inFlight = 0;
});

function start(receiverId: string, count: number, now = START): TrackedAttempt[] {
  inFlight += count;
  return Array.from({ length: count }, () => receivers.start(receiverId, now));
}
function end(attempts: readonly TrackedAttempt[], now: number): void {
  inFlight -= attempts.length;
  for (const attempt of attempts) receivers.end(attempt, now);
}
const roomFor = (receiverId: string, now = START) => receivers.allowance(MAX - inFlight, now).take(receiverId, MAX - inFlight);
/** Starts what this many receivers that never respond may have, `step` at a time, until they get no more. */
function hang(count: number, step: number): void {
  const ids = Array.from({ length: count }, (_, index) => `hanging ${index}`);
  for (let started = 1; started > 0;) {
    started = 0;
    for (const id of ids) started += start(id, Math.min(step, 64, roomFor(id), MAX - inFlight)).length;
  }
}

describe("a receiver is slow", () => {
  it("once an attempt of it has been in flight for two seconds, not before", () => {
    start("a", 1);
    expect(receivers.isSlow("a", LATER - 1)).toBe(false);
    expect(receivers.isSlow("a", LATER)).toBe(true);
    expect(receivers.isSlow("b", LATER)).toBe(false);
  });

  it("until an attempt of it ends sooner and none is that old", () => {
    const [oldest] = start("a", 1) as [TrackedAttempt];
    end(start("a", 1, LATER), LATER + 1);
    expect(receivers.isSlow("a", LATER + 1)).toBe(true);
    end([oldest], LATER + 1);
    expect(receivers.isSlow("a", LATER + 1)).toBe(true);
    end(start("a", 1, LATER + 2), LATER + 3);
    expect(receivers.isSlow("a", LATER + 3)).toBe(false);
  });

  it("is remembered when nothing of it is in flight, for 1,000 receivers", () => {
    for (let index = 0; index <= 1_000; index += 1) end(start(`slow ${index}`, 1), LATER);
    expect(receivers.isSlow("slow 0", LATER)).toBe(false);
    expect(receivers.isSlow("slow 1", LATER)).toBe(true);
    expect(receivers.isSlow("slow 1000", LATER)).toBe(true);
  });
});

describe("slow receivers", () => {
  it("share a quarter of the attempts in flight equally", () => {
    for (let index = 0; index < 5; index += 1) start(`slow ${index}`, 10);
    expect(roomFor("slow 0", LATER)).toBe(40);
    const allowance = receivers.allowance(MAX - inFlight, LATER);
    const taken = Array.from({ length: 5 }, (_, index) => allowance.take(`slow ${index}`, 64));
    expect(taken).toEqual([40, 40, 40, 40, 40]);
  });

  it("get nothing more when the quarter is used up, and are left out of claims", () => {
    for (let index = 0; index < 4; index += 1) start(`slow ${index}`, 64);
    end(start("idle", 1), LATER);
    start("quick", 64, LATER);
    const allowance = receivers.allowance(MAX - inFlight, LATER);
    expect(allowance.exceptIds().toSorted()).toEqual(["idle", "slow 0", "slow 1", "slow 2", "slow 3"]);
    expect(allowance.take("quick", 16)).toBe(16);
    expect(allowance.take("new", 16)).toBe(16);
  });

  it("get one attempt at a time when there are more of them than a quarter has room for", () => {
    for (let index = 0; index < 249; index += 1) start(`slow ${index}`, 1);
    for (let index = 0; index < 2; index += 1) end(start(`idle ${index}`, 1), LATER);
    const allowance = receivers.allowance(MAX - inFlight, LATER);
    expect(allowance.take("slow 0", 16)).toBe(0);
    expect(allowance.take("idle 0", 16)).toBe(1);
    expect(allowance.take("idle 1", 16)).toBe(0);
  });
});

describe("beyond half of the attempts in flight", () => {
  it("40 receivers that begin to hang, each with room for 64, leave 400 of 1,000 free before any is known to be slow", () => {
    hang(40, 16);
    expect(MAX - inFlight).toBeGreaterThan(400);
  });

  it("200 receivers that begin to hang leave a quarter free", () => {
    hang(200, 1);
    expect(MAX - inFlight).toBeGreaterThan(250);
  });

  it("a receiver keeps the width that it completes, and grows by what is free, though all of its attempts end at once", () => {
    hang(40, 16);
    const widths = [1, 2, 3, 4].map((round) => {
      const attempts = start("quick", roomFor("quick"), START + round);
      end(attempts, START + round + 1);
      return attempts.length;
    });
    expect(widths).toEqual([6, 12, 18, 24]);
  });

  it("a receiver whose attempts end one after the other doubles them with each round", () => {
    hang(40, 16);
    let attempts = start("quick", roomFor("quick"));
    const widths = [attempts.length];
    for (let round = 1; round <= 3; round += 1) {
      const next: TrackedAttempt[] = [];
      for (const attempt of attempts) {
        end([attempt], START + round);
        next.push(...start("quick", Math.min(2, roomFor("quick")), START + round));
      }
      attempts = next;
      widths.push(attempts.length);
    }
    expect(widths).toEqual([6, 12, 24, 48]);
  });

  it("a receiver that was quick and begins to hang gets no more than it was seen to complete, and the part of an unproven one", () => {
    end(start("quick", 20), START + 1);
    hang(40, 16);
    const attempts = start("quick", roomFor("quick"), START + 2);
    expect(attempts).toHaveLength(20 + 6);
    expect(roomFor("quick", START + 3)).toBeLessThanOrEqual(0);
  });

  it("a claim before it takes no more than up to half", () => {
    start("a", 490);
    expect(receivers.allowance(MAX - inFlight, START).max).toBe(10);
  });
});

it("counts what one claim took of a receiver before it starts", () => {
  start("busy", 500);
  const allowance = receivers.allowance(MAX - inFlight, START);
  expect([allowance.take("new", 5), allowance.take("new", 5), allowance.take("new", 5)]).toEqual([5, 2, 0]);
});

it("gives a claim that began earlier no room that first attempts have taken meanwhile, and gives it again once that is free", () => {
  const room = new Room(4, new AbortController().signal);
  const claim = room.forClaim();
  for (const receiver of ["rcv_1", "rcv_2", "rcv_3", "rcv_4"]) room.forFirstAttempts()(receiver, 1);
  expect(room.left).toBe(0);
  expect(claim.take("rcv_5", 2)).toBe(0);
  claim.end();
  room.release(4);
  expect(room.forClaim().take("rcv_5", 2)).toBe(2);
  expect(room.left).toBe(2);
});
