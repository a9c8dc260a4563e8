export { ATTRIBUTES, OWN_ATTRIBUTES, requestIdAttribute } from "./attributes.ts";
export { endHttpSpan, type ServedRequest } from "./http-span.ts";
export { isChosen } from "./sampling.ts";
export {
  startBatchSpan,
  startChildSpan,
  startEdgeSpan,
  startRootSpan,
  startSpan,
  type EdgeSpan,
  type SpanOptions,
  type TraceSpan,
} from "./span.ts";
export { startTracing } from "./start-tracing.ts";
export { isSampled, traceFields, traceIdOf, traceparentFrom, wellFormedTraceparent, type TraceFields } from "./trace-context.ts";
