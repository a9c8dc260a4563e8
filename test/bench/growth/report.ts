import { alignColumns } from "../harness/report.ts";
import type { Growth } from "./compare-sizes.ts";
import type { GrowthName, GrowthResult } from "./measure.ts";

/** Formats the result for a terminal. */
export function report({ growth, ratios, filtered, processes, memory, load_seconds }: GrowthResult): string {
  return [
    ...alignColumns([
      ["", "ms small", "ms large", "ratio", "buffers small", "large", "ratio", ""],
      ...(Object.keys(ratios) as GrowthName[]).map(row),
    ]),
    "",
    ...alignColumns([
      ["pages of conversions", "ms small", "ms large", "ratio", "buffers small", "large", "ratio"],
      ...Object.entries(filtered).map(([name, pages]) => [name, ...figuresOf(pages)]),
    ]),
    "",
    ...alignColumns([
      ["webhook processes", "deliveries/s", "webhook CPU ms", "Postgres CPU ms"],
      ...processes.map((count) => [
        String(count.processes),
        count.deliveries_per_second.toFixed(0),
        count.webhook_cpu_ms_per_delivery.toFixed(3),
        count.postgres_cpu_ms_per_delivery.toFixed(3),
      ]),
    ]),
    "",
    ...alignColumns([
      ["MiB resident", "start", `after ${memory.minutes / 10} min`, `after ${memory.minutes} min`, "peak"],
      ...(["webhook", "records"] as const).map((name) => [
        name,
        ...[memory.start, memory.after_a_tenth, memory.end, memory.peak].map((values) => values[name].toFixed(0)),
      ]),
    ]),
    `  Loading took, s: ${Object.entries(load_seconds)
      .map(([name, seconds]) => `${name} ${seconds.toFixed(0)}`)
      .join("; ")}`,
  ].join("\n");

  function row(name: GrowthName): string[] {
    const { time_ratio } = growth[name];
    const { at_most } = ratios[name];
    const target = at_most === undefined ? "" : `at most ${at_most}: ${time_ratio <= at_most ? "met" : "MISSED"}`;
    return [name, ...figuresOf(growth[name]), target];
  }
}

function figuresOf({ small_ms, large_ms, time_ratio, small_buffers, large_buffers, buffers_ratio }: Growth): string[] {
  const times = [small_ms.toFixed(2), large_ms.toFixed(2), time_ratio.toFixed(2)];
  return [...times, small_buffers.toFixed(0), large_buffers.toFixed(0), buffers_ratio.toFixed(2)];
}
