import { openMetrics } from "./metrics.ts";
import { reportClock } from "./admin-server.ts";

it("names a clock as degraded from 5 s of difference, ahead or behind, and shows by how much", async () => {
  const metrics = openMetrics("plans");
  const clock = { offsetSeconds: 0 };
  const { unavailable } = reportClock(clock, metrics);
  for (const [offset, names] of [
    [0, []],
    [4.9, []],
    [-4.9, []],
    [5, ["correct clock"]],
    [-5, ["correct clock"]],
    [600, ["correct clock"]],
  ] as const) {
    clock.offsetSeconds = offset;
    expect([offset, unavailable()]).toEqual([offset, names]);
    expect(await metrics.metrics()).toContain(`clock_offset_seconds{service="plans"} ${offset}\n`);
  }
});
