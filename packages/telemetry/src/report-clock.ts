import type { SharedClock } from "@brand-records/lifecycle";
import type { Registry } from "prom-client";
import type { DegradedCheck } from "./admin-server.ts";
import { Gauge } from "./metrics.ts";

/** Difference from which a clock counts as wrong. One that is kept by NTP differs by milliseconds. */
const OFFSET_SECONDS_MAX = 5;
const DEPENDENCY = "correct clock";

/** Registers the metric `clock_offset_seconds`. @returns the check that names a wrong clock in `/readyz` */
export function reportClock(clock: Pick<SharedClock, "offsetSeconds">, registry: Registry): DegradedCheck {
  const gauge = new Gauge({
    name: "clock_offset_seconds",
    help: "Seconds by which this machine's clock is ahead of the database's; negative: behind.",
    registers: [],
    collect() {
      this.set(clock.offsetSeconds);
    },
  });
  registry.registerMetric(gauge);
  return { dependency: DEPENDENCY, unavailable: () => (Math.abs(clock.offsetSeconds) < OFFSET_SECONDS_MAX ? [] : [DEPENDENCY]) };
}
