import { DEFAULT_SIZES, type GrowthSizes } from "./settings.ts";

/**
 * Returns the sizes of the large side: those given as options, the defaults for the others.
 *
 * @throws if one is no positive number
 */
export function readSizes(options: Readonly<Record<string, unknown>>): GrowthSizes {
  const read = (name: string, fallback: number): number => {
    const value = Number(options[name] ?? fallback);
    if (!(value > 0)) throw new Error(`--${name} is ${String(options[name])}: it must be a positive number`);
    return value;
  };
  return {
    records: read("records", DEFAULT_SIZES.records),
    brands: read("brands", DEFAULT_SIZES.brands),
    receivers: read("receivers", DEFAULT_SIZES.receivers),
    finished: read("finished", DEFAULT_SIZES.finished),
    memoryMinutes: read("memory-minutes", DEFAULT_SIZES.memoryMinutes),
  };
}
