import type { Database } from "@brand-records/postgres";
import { idSequence } from "@brand-records/typeid";
import { leaveLanes, lockExpired, removeDeliveries, removeExpiredOrphans, type ExpiredDelivery } from "../storage/leases.ts";
import { settleDeliveries, type SettledAttempt } from "../storage/results.ts";

const newAttemptId = idSequence("att");

export interface LeaseTerms {
  readonly leaseSeconds: number;
  /** Attempts of a delivery. */
  readonly attemptsMax: number;
}

/** Deliveries whose lease ended, by what became of them. */
export interface EndedLeases {
  /** Due at once. */
  readonly pending: number;
  /** The lease was that of the last attempt. */
  readonly failed: number;
  /** The receiver was deleted, or the event is not kept any more. */
  readonly removed: number;
}

/**
 * Ends leases whose worker died, up to 1,000 of them. The attempt counts, because it may have been sent: it is noted as
 * `unknown`, and after the last one the delivery is failed. Safe to run anywhere, any number of times.
 */
export async function endExpiredLeases(db: Database, terms: LeaseTerms): Promise<EndedLeases> {
  const orphans = await removeExpiredOrphans(db);
  return db.transaction(async (sql) => {
    const expired = await lockExpired(sql);
    if (expired.length === 0) return { pending: 0, failed: 0, removed: orphans };
    const [kept, lost] = [expired.filter((delivery) => delivery.kept), expired.filter((delivery) => !delivery.kept)];
    const results = kept.map((delivery) => unknownResult(delivery, terms));
    await settleDeliveries(sql, results);
    await removeDeliveries(
      sql,
      lost.map(({ id }) => id),
    );
    await leaveLanes(
      sql,
      expired.map(({ receiver_id }) => receiver_id),
    );
    const failed = results.filter(({ state }) => state === "failed").length;
    return { pending: results.length - failed, failed, removed: orphans + lost.length };
  });
}

function unknownResult(delivery: ExpiredDelivery, { leaseSeconds, attemptsMax }: LeaseTerms): SettledAttempt {
  const { id, lease, brand_id, receiver_id, event_id, event_created_at, created_at, lease_until, test, attempt } = delivery;
  const over = attempt >= attemptsMax;
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
    started_at: new Date(Date.parse(lease_until) - leaseSeconds * 1_000).toISOString(),
    // Not known: the process that could tell is gone.
    duration_ms: 0,
    outcome: "unknown",
    http_status: null,
    error: "the process that made the attempt ended before it wrote down the result",
    response: null,
    state: over ? "failed" : "pending",
    delay_seconds: over ? null : 0,
  };
}
