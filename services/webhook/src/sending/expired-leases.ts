import { repeat, withStopTimeout } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import type { Maintenance } from "@brand-records/service-runtime";
import type { Logger } from "@brand-records/telemetry";
import { idSequence } from "@brand-records/ids";
import { leaseStart } from "../domain/delivery.ts";
import { leaveLanes } from "../storage/locked-lanes.ts";
import { lockExpired, removeDeliveries, removeExpiredOrphans, type ExpiredDelivery } from "../storage/leases.ts";
import { settleDeliveries, type SettledAttempt } from "../storage/results.ts";
import type { SendingMetrics } from "./sending-metrics.ts";

const EVERY_MS = 2_000;
const STOP_MS = 2_000;

const newAttemptId = idSequence("att");

export interface LeaseTerms {
  readonly leaseSeconds: number;
  readonly attemptsMax: number;
}

/** Deliveries whose lease ended, by their next state. */
export interface EndedLeases {
  readonly pending: number;
  /** No attempt is left: the lease was for the last one. */
  readonly failed: number;
  /** The receiver was deleted, the event is no longer stored, or the brand is being deleted. */
  readonly removed: number;
}

export interface LeaseKeeperOptions {
  readonly db: Database;
  readonly terms: LeaseTerms;
  readonly maintenance: Maintenance;
  readonly metrics: Pick<SendingMetrics, "attempts" | "finished">;
  readonly log: Logger;
}

/** Ends the leases of workers that died, soon after they expire. Safe to run in any number of processes. */
export function startLeaseKeeper({ db, terms, maintenance, metrics, log }: LeaseKeeperOptions): { stop(): Promise<void> } {
  const endLeases = async (): Promise<void> => {
    const { pending, failed, removed } = await endExpiredLeases(db, terms);
    metrics.attempts.inc({ outcome: "unknown" }, pending + failed);
    metrics.finished.inc({ state: "failed" }, failed);
    metrics.finished.inc({ state: "removed" }, removed);
    if (pending + failed + removed > 0) log.warn({ pending, failed, removed }, "leases expired without a result");
  };
  return withStopTimeout(
    repeat(() => maintenance.run("end expired leases", endLeases), EVERY_MS),
    STOP_MS,
  );
}

/**
 * Ends up to 1,000 leases whose worker died. The attempt counts, because its request may have been sent. It is recorded as
 * `unknown`; if it was the last attempt, the delivery fails. Safe to run anywhere, any number of times.
 */
export async function endExpiredLeases(db: Database, terms: LeaseTerms): Promise<EndedLeases> {
  const orphans = await removeExpiredOrphans(db);
  return db.transaction(async (sql) => {
    const expired = await lockExpired(sql);
    if (expired.length === 0) return { pending: 0, failed: 0, removed: orphans };
    const sendable = expired.filter(({ is_sendable }) => is_sendable);
    const unsendable = expired.filter(({ is_sendable }) => !is_sendable);
    const results = sendable.map((delivery) => unknownResult(delivery, terms));
    await settleDeliveries(sql, results);
    const unsendableIds = unsendable.map(({ id }) => id);
    if (unsendableIds.length > 0) await removeDeliveries(sql, unsendableIds);
    await leaveLanes(
      sql,
      expired.map(({ receiver_id }) => receiver_id),
    );
    const failed = results.filter(({ state }) => state === "failed").length;
    return { pending: results.length - failed, failed, removed: orphans + unsendable.length };
  });
}

function unknownResult(delivery: ExpiredDelivery, { leaseSeconds, attemptsMax }: LeaseTerms): SettledAttempt {
  const { id, lease, brand_id, receiver_id, event_id, event_created_at, created_at, lease_until, test, attempt } = delivery;
  const isLast = attempt >= attemptsMax;
  return {
    delivery_id: id,
    lease,
    brand_id,
    receiver_id,
    event_id,
    event_created_at,
    delivery_created_at: created_at,
    test,
    attempt_id: newAttemptId(),
    attempt,
    started_at: leaseStart(lease_until, leaseSeconds),
    // Unknown: the process that measured it died.
    duration_ms: 0,
    outcome: "unknown",
    http_status: null,
    error: "the process that made the attempt ended before it wrote the result",
    response: null,
    state: isLast ? "failed" : "pending",
    delay_seconds: isLast ? null : 0,
  };
}
