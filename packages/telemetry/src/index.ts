export { startAdminServer, type DegradedCheck } from "./admin-server.ts";
export { openLog, type Logger } from "./log.ts";
export { AGE_SECONDS_BUCKETS, Counter, Gauge, Histogram, openMetrics, Registry, SECONDS_BUCKETS, startAtZero } from "./metrics.ts";
export { reportClock } from "./report-clock.ts";
export { RepeatedWarning } from "./repeated-warning.ts";
export { LOG_FILE_BYTES_MAX, rotateLog } from "./rotate-log.ts";
export * from "./tracing/index.ts";
