export { ATTRIBUTES, OWN_ATTRIBUTES, requestIdAttribute } from "./attributes.ts";
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
} from "./span.ts";
export { isChosen, isSampled, traceFields, traceIdOf, traceparentFrom, wellFormedTraceparent, type TraceFields } from "./trace-context.ts";
export { startTracing } from "./start-tracing.ts";
