import type { TracingConfig } from "@brand-records/config";
import { TIMED_OUT, withTimeout } from "@brand-records/lifecycle";
import { Counter, type Registry } from "../metrics.ts";
import { RepeatedWarning, type WarningLog } from "../log.ts";
import { setSamplingRatio } from "./trace-context.ts";
import { setTracing } from "./span.ts";

/** A receiver that does not respond must not hold up the stop. */
const STOP_MS = 2_000;

interface TracingOptions {
  /** Such as `gateway`. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override it. */
  readonly service: string;
  readonly config: TracingConfig;
  readonly log: WarningLog;
  readonly metrics?: Registry;
}

/**
 * Exports spans by OTLP if OTEL_EXPORTER_OTLP_ENDPOINT is set, in batches, in the background. Spans that cannot be exported are dropped,
 * and a warning reports it. The SDK reads its other standard settings itself, such as OTEL_EXPORTER_OTLP_HEADERS,
 * OTEL_EXPORTER_OTLP_PROTOCOL and OTEL_BSP_*; not OTEL_TRACES_SAMPLER, because public callers must not decide.
 */
export async function startTracing({ service, config, log, metrics }: TracingOptions): Promise<{ stop(): Promise<void> }> {
  const failures = new Counter({
    name: "trace_export_failures_total",
    help: "Failed exports of spans, and spans dropped because too many waited. Each failed export lost up to 512 spans.",
    registers: metrics === undefined ? [] : [metrics],
  });
  if (!isOn(config)) return { stop: async () => {} };
  // Loaded only here: it takes 225 to 295 ms and 25 MB.
  const [{ NodeSDK }, { AlwaysOnSampler }, { resourceFromAttributes, envDetector, serviceInstanceIdDetector }, api] = await Promise.all([
    import("@opentelemetry/sdk-node"),
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/resources"),
    import("@opentelemetry/api"),
  ]);
  const sdk = new NodeSDK({
    resource: resourceFromAttributes({ "service.name": service, "service.namespace": "brand-records" }),
    resourceDetectors: [envDetector, serviceInstanceIdDetector],
    // Spans are only started for traces that are sampled.
    sampler: new AlwaysOnSampler(),
    instrumentations: [],
    metricReaders: [],
    logRecordProcessors: [],
    textMapPropagator: null,
  });
  sdk.start();
  const warning = new RepeatedWarning(log, "traces are not exported");
  const report = (text: string): void => {
    failures.inc();
    warning.write({ reason: reasonIn(text) });
  };
  api.diag.setLogger(
    { error: report, warn: report, info() {}, debug() {}, verbose() {} },
    { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  setTracing({ tracer: api.trace.getTracer("brand-records"), api });
  setSamplingRatio(config.OTEL_TRACES_SAMPLER_ARG);
  return {
    async stop() {
      setTracing(undefined);
      setSamplingRatio(0);
      const outcome = await withTimeout(
        sdk.shutdown().catch((error: unknown) => report(String(error))),
        STOP_MS,
      );
      if (outcome === TIMED_OUT) report("the last spans were not exported before the stop");
    },
  };
}

/** The SDK reports an error as its JSON. */
function reasonIn(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === "string" ? message : text;
  } catch {
    return text;
  }
}

const isOn = ({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER, OTEL_SDK_DISABLED }: TracingConfig): boolean =>
  OTEL_EXPORTER_OTLP_ENDPOINT !== undefined && OTEL_TRACES_EXPORTER !== "none" && OTEL_SDK_DISABLED !== "true";
