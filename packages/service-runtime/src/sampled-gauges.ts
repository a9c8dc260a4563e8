import { Gauge, type Registry } from "@brand-records/telemetry";
import { sampler } from "./sampler.ts";

/** A gauge whose value comes from a sample. */
export interface SampledGauge<Sample> {
  readonly name: string;
  readonly help: string;
  /** @param value of the label */
  of(sample: Sample, value: string): number;
  /** Default: none. */
  readonly label?: { readonly name: string; readonly values: readonly string[] };
}

/**
 * Registers gauges that one read feeds, by the rules of `sampler`. They are -1 while there is no sample: what answers is away, or slow.
 *
 * @param read returns undefined while the sample is unknown
 * @returns the sample that the gauges show, as `sampler` does
 */
export function showSampled<Sample>(
  registry: Registry,
  read: () => Promise<Sample | undefined>,
  gauges: readonly SampledGauge<Sample>[],
): (waitMs?: number) => Promise<Sample | undefined> {
  const sampled = sampler(read);
  for (const { name, help, of, label } of gauges) {
    const gauge = new Gauge({
      name,
      help,
      labelNames: label === undefined ? [] : [label.name],
      registers: [],
      async collect() {
        const sample = await sampled();
        const valueOf = (value: string): number => (sample === undefined ? -1 : of(sample, value));
        if (label === undefined) this.set(valueOf(""));
        else for (const value of label.values) this.set({ [label.name]: value }, valueOf(value));
      },
    });
    registry.registerMetric(gauge);
  }
  return sampled;
}
