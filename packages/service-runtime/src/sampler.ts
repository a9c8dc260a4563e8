import { withTimeout } from "@brand-records/lifecycle";
import { type Registry, showGauge } from "@brand-records/telemetry";

const EVERY_MS = 5_000;
/** A scrape waits no longer: Prometheus gives up after ten seconds by default, and then has no metric of the process at all. */
const ANSWER_MS = 1_000;
/**
 * A read that takes longer hangs. Most slow reads end sooner; and what hangs must show soon: five seconds after it is asked where scrapes
 * are frequent, and at the second scrape where they come every 15 s. The alerts on it wait for a minute or more.
 */
const HANGS_MS = 5_000;
/** Two of the usual 15 s between scrapes: at each scrape, the sample that a slow read returned since the one before it still counts. */
const KEPT_MS = 30_000;

/**
 * Returns a function for gauges that a query feeds. It reads at most every five seconds, one read at a time, and waits for a second at
 * most. While a read takes longer, it resolves to the sample before it: otherwise a read that always takes a little more than a second
 * would look like a database that is away.
 *
 * The function takes how long it waits, in milliseconds, if not for a second.
 *
 * @returns undefined if the read fails or hangs, or if there is no sample of the last 30 seconds
 */
export function sampler<T>(read: () => Promise<T>): (waitMs?: number) => Promise<T | undefined> {
  let sample: { readonly value: T; readonly readAt: number } | undefined;
  let reading: Promise<void> = Promise.resolve();
  let isReading = false;
  let startedAt = Number.NEGATIVE_INFINITY;
  const start = async (): Promise<void> => {
    startedAt = performance.now();
    isReading = true;
    try {
      sample = { value: await read(), readAt: startedAt };
    } catch {
      // The pool counts and logs why.
      sample = undefined;
    } finally {
      isReading = false;
    }
  };
  return async (waitMs = ANSWER_MS) => {
    if (!isReading && performance.now() - startedAt >= EVERY_MS) reading = start();
    await withTimeout(reading, waitMs);
    const now = performance.now();
    if (isReading && now - startedAt >= HANGS_MS) return undefined;
    return sample !== undefined && now - sample.readAt < KEPT_MS ? sample.value : undefined;
  };
}

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
    showGauge(registry, {
      name,
      help,
      labelNames: label === undefined ? [] : [label.name],
      async collect() {
        const sample = await sampled();
        const valueOf = (value: string): number => (sample === undefined ? -1 : of(sample, value));
        if (label === undefined) this.set(valueOf(""));
        else for (const value of label.values) this.set({ [label.name]: value }, valueOf(value));
      },
    });
  }
  return sampled;
}
