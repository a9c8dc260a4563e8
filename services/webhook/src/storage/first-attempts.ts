import { unnestRows, type BatchRow, type Sql, type Statement } from "@brand-records/postgres";
import type { ClaimedDelivery } from "./claims.ts";
import { NEW_DELIVERY } from "./deliveries.ts";
import type { LaneRow } from "./lanes.ts";

/** A receiver that selects events, with what an attempt needs. */
export interface Target extends Pick<ClaimedDelivery, "url" | "secret" | "secret_key_id" | "next_secret" | "next_secret_key_id"> {
  readonly id: string;
  readonly ctid: string;
  readonly brand_id: string;
  readonly events: readonly string[];
  /** First attempts that may begin at once: its lane is enabled, its circuit closed, nothing is due, and its last attempt succeeded. */
  readonly room: number;
  readonly now: string;
}

const ADDED = unnestRows({ ...NEW_DELIVERY, lease: "uuid null" }, { after: 1 });

/** A delivery whose first attempt begins at once has a lease; any other waits for a claim. */
export type AddedDelivery = BatchRow<typeof ADDED>;

/**
 * Times after the lanes were locked, not the transaction's: a delivery that was added while this transaction waited for its lane is due
 * later than the transaction began, and comes first; and the wait takes nothing of a lease.
 */
const TARGETS = {
  name: "first_attempts.targets",
  text: `select r.id, l.ctid, r.brand_id, r.events, r.url, r.secret, r.secret_key_id, r.next_secret, r.next_secret_key_id, now()::timestamptz(3) as now,
         case when l.held or l.next_due <= clock_timestamp() or l.open_until > now() or l.failed_in_a_row > 0 then 0
              else greatest(0, l.max_in_flight - l.in_flight) end as room
    from webhook.receivers r join webhook.lanes l on l.receiver_id = r.id
   where l.ctid = any($1::tid[]) order by r.id`,
} satisfies Statement;

const ADD = {
  name: "first_attempts.add",
  text: `insert into webhook.deliveries (${ADDED.columns}, state, attempt, lease_until)
         select ${ADDED.columns}, case when lease is null then 'pending' else 'sending' end, case when lease is null then 0 else 1 end,
                case when lease is not null then statement_timestamp() + make_interval(secs => $1) end
           from ${ADDED.relation}`,
} satisfies Statement;

/** Returns the receivers of locked lanes in ascending order of id. */
export function targetsOf(sql: Sql, lanes: readonly LaneRow[]): Promise<Target[]> {
  return sql.query<Target>(TARGETS, [lanes.map(({ ctid }) => ctid)]);
}

/** Adds deliveries: pending and due now, or leased for `leaseSeconds`. Their lanes must be locked, and count them by `addToLanes`. */
export const addFirstAttempts = (sql: Sql, deliveries: readonly AddedDelivery[], leaseSeconds: number): Promise<unknown> =>
  sql.query(ADD, [leaseSeconds, ...ADDED.values(deliveries)]);
