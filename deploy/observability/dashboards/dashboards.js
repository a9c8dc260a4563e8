import { dashboard } from "./panels.js";

const J = 'job="brand-records"';
const API = `${J},service="gateway",route=~"/api/.*"`;
const RATE = "[$__rate_interval]";

/** @param {number} quantile @param {string} histogram @param {string} by @param {string} [labels] */
const quantile = (quantile, histogram, by, labels = J) =>
  `histogram_quantile(${quantile}, sum by (${by === "" ? "le" : `le, ${by}`}) (rate(${histogram}_bucket{${labels}}${RATE})))`;

/** @param {string} counter @param {string} by @param {string} [labels] */
const rateBy = (counter, by, labels = J) => `sum by (${by}) (rate(${counter}{${labels}}${RATE}))`;

/** File name without `.json` → dashboard. */
export const DASHBOARDS = {
  overview: dashboard({
    uid: "brand-records-overview",
    title: "Brand Records: overview",
    description: "Whether the promises hold, what fires, and which part is the cause.",
    rows: {
      Promises: {
        "Failed requests, 3 days": {
          description: "Share of the API's requests that ended in 500, 503 or 504. 0.1% is promised.",
          unit: "percentunit",
          stat: true,
          bad: 0.001,
          queries: { failed: "api:unavailable:ratio3d" },
        },
        "Slow requests, 3 days": {
          description: "Share of the API's requests that took longer than 500 ms. 1% is promised.",
          unit: "percentunit",
          stat: true,
          bad: 0.01,
          queries: { slow: "api:slow:ratio3d" },
        },
        "Outbox late, 3 days": {
          description: "Share of the time in which the oldest event in the outbox was older than a minute. 0.5% is promised.",
          unit: "percentunit",
          stat: true,
          bad: 0.005,
          queries: { "late {{cell}}": "outbox:late:ratio3d" },
        },
        "Deliveries late, 3 days": {
          description: "Share of the time in which the oldest due delivery waited longer than a minute. 0.5% is promised.",
          unit: "percentunit",
          stat: true,
          bad: 0.005,
          queries: { late: "deliveries:late:ratio3d" },
        },
      },
      "What fires, and why": {
        "Alerts that fire": {
          description: "Each has a runbook in docs/runbooks.",
          unit: "short",
          stacked: true,
          queries: { "{{alertname}} {{severity}}": 'count by (alertname, severity) (ALERTS{alertstate="firing",severity!="none"})' },
        },
        "Failures on our side, where they arise": {
          description: "internal_error, unavailable and timeout, by the process in which they arise and what it waited for.",
          unit: "ops",
          queries: { "{{service}} {{kind}} {{dependency}}": `${rateBy("server_errors_total", "service, kind, dependency")} > 0` },
        },
        "Processes that respond": {
          description: "Prometheus reaches their admin port.",
          unit: "short",
          queries: { "{{service}} {{cell}}": `sum by (service, cell) (up{${J}})` },
        },
      },
      Processes: {
        CPU: {
          description: "Cores in use by each process. One is the most that JavaScript uses.",
          unit: "short",
          queries: { "{{service}} {{instance}}": `rate(process_cpu_seconds_total{${J}}${RATE})` },
        },
        Memory: {
          description: "Resident memory of each process.",
          unit: "bytes",
          queries: { "{{service}} {{instance}}": `process_resident_memory_bytes{${J}}` },
        },
        "Event loop delay": {
          description: "99th percentile since the scrape before. All work of a process is late by as much.",
          unit: "s",
          bad: 0.25,
          queries: { "{{service}}": `max by (service) (nodejs_eventloop_lag_p99_seconds{${J}})` },
        },
        "Callers waiting for a connection": {
          description: "Of each pool of connections to Postgres.",
          unit: "short",
          queries: { "{{service}} {{cell}} {{pool}}": `sum by (service, cell, pool) (postgres_pool_connections{${J},state="waiting"})` },
        },
        "Wait for a connection, p99": {
          description: "What a statement waits before it starts.",
          unit: "s",
          bad: 0.1,
          queries: { "{{service}} {{cell}} {{pool}}": quantile(0.99, "postgres_pool_wait_seconds", "service, cell, pool") },
        },
        "Errors of Postgres": {
          description: "Connections that fail, statements that run out of time, refused writes. Never errors of the data.",
          unit: "ops",
          queries: { "{{service}} {{cell}} {{reason}}": rateBy("postgres_errors_total", "service, cell, reason") },
        },
        Certificates: {
          description: "When the certificate that a process has loaded expires.",
          unit: "s",
          queries: {
            "{{service}} {{certificate}}": `min by (service, certificate) (tls_certificate_expiry_timestamp_seconds{${J}}) - time()`,
          },
        },
        "Maintenance, since the last success": {
          description: "Tasks run once a minute. One process that succeeds is enough.",
          unit: "s",
          bad: 21_600,
          queries: { "{{service}} {{task}}": `time() - max by (service, task) (maintenance_last_success_timestamp_seconds{${J}} > 0)` },
        },
        "Audit entries that wait for accounts": {
          description: "The longest that one has waited. 0 if there is none, -1 while the database does not respond.",
          unit: "s",
          bad: 300,
          queries: { "{{service}}": `max by (service) (audit_outbox_oldest_seconds{${J}})` },
        },
        Versions: {
          description: "Processes by release and version of Node.",
          unit: "short",
          stacked: true,
          queries: { "{{version}}, Node {{node}}": `count by (version, node) (build_info{${J}})` },
        },
      },
    },
  }),

  api: dashboard({
    uid: "brand-records-api",
    title: "Brand Records: API",
    description: "Requests of programs and assistants: how many, how they end, how long they take. One brand is looked up in the logs.",
    rows: {
      Requests: {
        "Requests by status": {
          description: "All requests to the API. 499 is a caller that gave up.",
          unit: "reqps",
          stacked: true,
          queries: { "{{status}}": rateBy("http_request_duration_seconds_count", "status", API) },
        },
        "Failed requests": {
          description: "Share that ended in 500, 503 or 504, of those that were not refused. The line is where a page begins.",
          unit: "percentunit",
          bad: 0.0144,
          queries: { "5 minutes": "api:unavailable:ratio5m", "1 hour": "api:unavailable:ratio1h" },
        },
        "Slow requests": {
          description: "Share that took longer than 500 ms. The line is where a page begins.",
          unit: "percentunit",
          bad: 0.144,
          queries: { "5 minutes": "api:slow:ratio5m", "1 hour": "api:slow:ratio1h" },
        },
      },
      Operations: {
        Operations: {
          description: "By name, whether a program or an assistant called it.",
          unit: "reqps",
          queries: { "{{operation}} {{via}}": rateBy("operation_duration_seconds_count", "operation, via") },
        },
        "Operations that fail": {
          description: "By name and error code, refusals such as not_found among them.",
          unit: "reqps",
          queries: { "{{operation}} {{error}}": rateBy("operation_duration_seconds_count", "operation, error", `${J},error!="none"`) },
        },
        "Duration, p95": {
          description: "From the headers of the request to the end of the response.",
          unit: "s",
          bad: 0.5,
          queries: { "{{operation}}": quantile(0.95, "operation_duration_seconds", "operation") },
        },
        "Messages of assistants": {
          description: "By method and generation of the protocol.",
          unit: "reqps",
          queries: { "{{method}} {{generation}}": rateBy("mcp_messages_total", "method, generation") },
        },
        "Calls between processes, p95": {
          description: "As the called process measures them.",
          unit: "s",
          queries: { "{{service}} {{method}}": quantile(0.95, "rpc_server_duration_seconds", "service, method") },
        },
        "Calls between processes, p95 at the caller": {
          description: "With the network and the wait for the called process.",
          unit: "s",
          queries: { "{{service}} {{method}}": quantile(0.95, "rpc_client_duration_seconds", "service, method") },
        },
      },
      Limits: {
        "Decisions of the rate limiter": {
          description: "By verdict.",
          unit: "reqps",
          stacked: true,
          queries: { "{{verdict}}": rateBy("rate_limiter_decisions_total", "verdict") },
        },
        "Decisions without Redis": {
          description: "Requests decided in the process because Redis was away.",
          unit: "reqps",
          queries: { "{{verdict}}": rateBy("rate_limiter_fallback_decisions_total", "verdict") },
        },
        "Redis decides": {
          description: "1 while the limit holds over all gateways, 0 while it holds per process.",
          unit: "short",
          queries: { Redis: `min(rate_limiter_redis_up{${J}})` },
        },
        "Broken and refused requests": {
          description: "Bytes that are no HTTP, and bodies refused because those being read held too much memory.",
          unit: "reqps",
          queries: {
            "{{error}}": rateBy("http_broken_requests_total", "error"),
            "bodies refused": `sum(rate(http_bodies_refused_total{${J}}${RATE}))`,
          },
        },
        "Memory of request bodies": {
          description: "Held by bodies that are being read.",
          unit: "bytes",
          queries: { "{{service}} {{instance}}": `http_body_bytes{${J}}` },
        },
        "Usage dropped": {
          description: "Requests missing from the brands' usage.",
          unit: "reqps",
          queries: { dropped: `sum(rate(usage_dropped_total{${J}}${RATE}))` },
        },
      },
    },
  }),

  events: dashboard({
    uid: "brand-records-events",
    title: "Brand Records: events and deliveries",
    description: "From a change to its delivery. One receiver is looked up in the console, with brandctl and in the logs.",
    rows: {
      "Change to event log": {
        "Oldest event in the outbox": {
          description: "0 if there is none, -1 while the database does not respond. Late from one minute on.",
          unit: "s",
          bad: 60,
          queries: { "oldest {{cell}}": `max by (cell) (outbox_oldest_seconds{${J}})` },
        },
        "Events in the outbox": {
          description: "Counted up to 10,000; -1 while the database does not respond.",
          unit: "short",
          queries: { "waiting {{cell}}": `max by (cell) (outbox_events{${J}})` },
        },
        "Events through the log": {
          description: "Published by records, stored by webhook, with the deliveries made of them.",
          unit: "ops",
          queries: {
            "published {{cell}}": rateBy("outbox_published_total", "cell"),
            stored: `sum(rate(intake_events_total{${J}}${RATE}))`,
            deliveries: `sum(rate(intake_deliveries_total{${J}}${RATE}))`,
            "failures to publish": `sum(rate(outbox_failures_total{${J}}${RATE}))`,
          },
        },
        "Messages not stored yet": {
          description: "In the event log; -1 while the brokers do not respond.",
          unit: "short",
          queries: { lag: `max(intake_lag_messages{${J}})` },
        },
        "From event to storing, p95": {
          description: "Over outbox, event log and intake.",
          unit: "s",
          queries: { p95: quantile(0.95, "event_intake_delay_seconds", "") },
        },
        "Messages without an event": {
          description: "Dead-lettered, dropped because their brand is deleted, or stored before.",
          unit: "ops",
          queries: {
            "dead letters": `sum(rate(intake_dead_letters_total{${J}}${RATE}))`,
            dropped: `sum(rate(intake_dropped_total{${J}}${RATE}))`,
            repeated: `sum(rate(intake_repeated_total{${J}}${RATE}))`,
          },
        },
      },
      Deliveries: {
        "Oldest due delivery": {
          description: "To receivers that work and have room. 0 if there is none, -1 while the database does not respond.",
          unit: "s",
          bad: 60,
          queries: { oldest: `max(deliveries_oldest_due_seconds{${J}})` },
        },
        "From event to first attempt": {
          description: "To receivers whose last attempt succeeded, without replays.",
          unit: "s",
          queries: { p50: quantile(0.5, "delivery_delay_seconds", ""), p95: quantile(0.95, "delivery_delay_seconds", "") },
        },
        "Attempts by outcome": {
          description: "Every outcome but accepted is a failure and names where it failed.",
          unit: "ops",
          stacked: true,
          queries: { "{{outcome}}": rateBy("delivery_attempts_total", "outcome") },
        },
        "Duration of attempts": {
          description: "How long receivers take.",
          unit: "s",
          queries: {
            p50: quantile(0.5, "delivery_attempt_duration_seconds", ""),
            p95: quantile(0.95, "delivery_attempt_duration_seconds", ""),
          },
        },
        "Deliveries that ended": {
          description: "Failed ones have no attempt left.",
          unit: "ops",
          stacked: true,
          queries: { "{{state}}": rateBy("deliveries_finished_total", "state") },
        },
      },
      Receivers: {
        Receivers: {
          description: "Of all brands.",
          unit: "short",
          queries: { "{{state}}": `max by (state) (receivers{${J}})` },
        },
        "Failing receivers": {
          description: "Share, of the receivers that were sent something in the last hour, whose last attempt failed.",
          unit: "percentunit",
          bad: 0.2,
          queries: { failing: "receivers:failing:ratio" },
        },
        "Circuits open, receivers disabled": {
          description: "Circuits close by themselves; disabled receivers wait for their owners.",
          unit: "short",
          queries: {
            "circuits open": `max(circuits_open{${J}})`,
            "disabled in an hour: {{reason}}": `sum by (reason) (increase(receivers_disabled_total{${J}}[1h]))`,
          },
        },
      },
    },
  }),
};
