export { startAdminServer, type DegradedCheck, reportClock } from "./admin-server.ts";
export { openLog, type Logger, RepeatedWarning } from "./log.ts";
export {
  AGE_SECONDS_BUCKETS,
  Counter,
  Gauge,
  Histogram,
  openMetrics,
  Registry,
  SECONDS_BUCKETS,
  showGauge,
  startAtZero,
} from "./metrics.ts";
export { ATTRIBUTES, OWN_ATTRIBUTES, requestIdAttribute } from "./tracing/attributes.ts";
export {
  endHttpSpan,
  type ServedRequest,
  startBatchSpan,
  startChildSpan,
  startEdgeSpan,
  startRootSpan,
  startSpan,
  type EdgeSpan,
  type SpanOptions,
  type TraceSpan,
} from "./tracing/span.ts";
export {
  isChosen,
  isSampled,
  traceFields,
  traceIdOf,
  traceparentFrom,
  wellFormedTraceparent,
  type TraceFields,
} from "./tracing/trace-context.ts";
export { startTracing } from "./tracing/start-tracing.ts";
