export { startAdminServer, type DegradedCheck, reportClock } from "./admin-server.ts";
export { openLog, type Logger, RepeatedWarning } from "./log.ts";
export { AGE_SECONDS_BUCKETS, Counter, Gauge, Histogram, openMetrics, Registry, SECONDS_BUCKETS, startAtZero } from "./metrics.ts";
export { LOG_FILE_BYTES_MAX, rotateLog } from "./rotate-log.ts";
export * from "./tracing/index.ts";
