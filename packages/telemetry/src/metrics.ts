import { readFileSync } from "node:fs";
import { collectDefaultMetrics, Gauge, Registry, type Counter, type GaugeConfiguration } from "prom-client";

export { Counter, Gauge, Histogram, Registry } from "prom-client";

/** Latency buckets from 1 ms to 10 s: responses take a few milliseconds, deadlines are a few seconds. */
export const SECONDS_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

/** Buckets for what may take hours if something is wrong: the age of events and deliveries. */
export const AGE_SECONDS_BUCKETS = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 21_600];

/** Shows these values of a counter's label as 0 from the start: else `increase()` does not see the first event of each. */
export function startAtZero<Label extends string>(counter: Counter<Label>, label: Label, values: readonly string[]): Counter<Label> {
  for (const value of values) counter.inc({ [label]: value } as Partial<Record<Label, string>>, 0);
  return counter;
}

/** Registers a gauge that takes its values when it is read. */
export const showGauge = <Label extends string>(registry: Registry, gauge: Omit<GaugeConfiguration<Label>, "registers">): void =>
  registry.registerMetric(new Gauge({ ...gauge, registers: [] }));

/** All packages have the version of the release. */
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };

/** Opens the registry of the process, with its version and Node's metrics (CPU, memory, event loop). */
export function openMetrics(service: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: "build_info",
    help: "Always 1; the labels have the versions of the release and of Node.",
    labelNames: ["version", "node"],
    registers: [registry],
  }).set({ version, node: process.versions.node }, 1);
  return registry;
}
