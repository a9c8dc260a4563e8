export { startAdminServer } from "./admin-server.ts";
export { openLog, type Logger } from "./log.ts";
export { Counter, Gauge, Histogram, openMetrics, Registry, SECONDS_BUCKETS } from "./metrics.ts";
export { RepeatedWarning } from "./repeated-warning.ts";
