import { manualClock } from "./manual-clock.ts";

describe("manualClock", () => {
  it("stands still until it is advanced, also when `now` is passed on alone", () => {
    const clock = manualClock(1_000);
    const { now } = clock;
    expect([now(), now()]).toEqual([1_000, 1_000]);
    clock.advance(250);
    expect(now()).toBe(1_250);
  });
});
