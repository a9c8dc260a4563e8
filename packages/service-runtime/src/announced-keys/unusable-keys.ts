import { Gauge, type Registry } from "@brand-records/telemetry";

/**
 * Shows the keys under which something is stored that this process cannot read: it lacks them, or has others under their ids.
 *
 * @param ids of now; of stored values only, so that the series are few
 */
export function showUnusableKeys(registry: Registry, ids: () => readonly number[]): void {
  const gauge = new Gauge({
    name: "unusable_keys",
    help: "1 for each key under which something is stored that this process cannot read. Absent if there is none.",
    labelNames: ["key_id"],
    registers: [],
    collect() {
      this.reset();
      for (const id of ids()) this.set({ key_id: id }, 1);
    },
  });
  registry.registerMetric(gauge);
}
