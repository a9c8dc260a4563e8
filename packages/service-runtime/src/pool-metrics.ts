import { POSTGRES_FAILURES, type PoolOptions, type PoolState, type PostgresFailure } from "@brand-records/postgres";
import { Counter, Histogram, SECONDS_BUCKETS, type Registry, showGauge } from "@brand-records/telemetry";

export function poolMetrics(registry: Registry) {
  const registers = [registry];
  const states = new Map<string, () => PoolState>();
  const waits = new Histogram({
    name: "postgres_pool_wait_seconds",
    help: "Time that a statement or a transaction waits for a connection of the pool, until it has one or gives up.",
    labelNames: ["pool"],
    buckets: SECONDS_BUCKETS,
    registers,
  });
  const failures = new Counter({
    name: "postgres_errors_total",
    help: "Statements and connections that failed because of the database, not of their data.",
    labelNames: ["pool", "reason"],
    registers,
  });
  showGauge(registry, {
    name: "postgres_pool_connections",
    help: "Connections of the pool, and callers that wait for one.",
    labelNames: ["pool", "state"],
    collect() {
      for (const [pool, state] of states) for (const [name, value] of Object.entries(state())) this.set({ pool, state: name }, value);
    },
  });
  return {
    /** Returns what the pool of that name reports to. */
    observerOf(pool: string): Pick<PoolOptions, "onWait" | "onFailure"> {
      const wait = waits.labels({ pool });
      const failed = Object.fromEntries(POSTGRES_FAILURES.map((reason) => [reason, failures.labels({ pool, reason })])) as Record<
        PostgresFailure,
        Counter.Internal
      >;
      for (const counter of Object.values(failed)) counter.inc(0);
      return { onWait: (seconds) => wait.observe(seconds), onFailure: (failure) => failed[failure].inc() };
    },
    /** Shows the connections of a pool from now on. */
    show: (pool: string, state: () => PoolState): void => void states.set(pool, state),
  };
}
