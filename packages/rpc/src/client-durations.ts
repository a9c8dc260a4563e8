import { Histogram, SECONDS_BUCKETS, type Registry } from "@brand-records/telemetry";

/** Called at the start of a call; what it returns is called at its end, with `ok` or the error's code. */
export type MeasureCall = () => (code: string) => void;

type Child = ReturnType<Histogram<"method" | "code">["labels"]>;

const unmeasured: MeasureCall = () => () => {};

/** Measures the calls of one method. */
export function measureCalls(metrics: Registry | undefined, method: string): MeasureCall {
  if (metrics === undefined) return unmeasured;
  const duration =
    (metrics.getSingleMetric("rpc_client_duration_seconds") as Histogram<"method" | "code"> | undefined) ?? openDurations(metrics);
  // A child is looked up once for each code, so that a call makes no object for its labels.
  const byCode = new Map<string, Child>();
  const childFor = (code: string): Child => {
    const child = duration.labels({ method, code });
    byCode.set(code, child);
    return child;
  };
  return () => {
    const startedAt = performance.now();
    return (code) => (byCode.get(code) ?? childFor(code)).observe((performance.now() - startedAt) / 1_000);
  };
}

function openDurations(metrics: Registry): Histogram<"method" | "code"> {
  return new Histogram({
    name: "rpc_client_duration_seconds",
    help: "Time from a gRPC call to its result, retries included.",
    labelNames: ["method", "code"],
    buckets: SECONDS_BUCKETS,
    registers: [metrics],
  });
}
