import { openPool, type Database } from "@brand-records/postgres";
import { BY_INDEX, claimDeliveries, type ClaimedDelivery, type ClaimOptions } from "../src/storage/claims.ts";
import { BOUND } from "../src/storage/lane-bound.ts";
import { serveSending, type MadeReceiver, type ServedSending } from "./serve-sending.ts";

/** Writing 200,000 rows takes longer than a statement of the service may. */
export const SET_UP_MS = 120_000;

/** One receiver's lane, and claims of it. */
export interface ServedClaims {
  readonly sending: ServedSending;
  readonly receiver: MadeReceiver;
  /** One connection: its statistics are visible to itself at once. */
  readonly db: Database;
  claim(more?: Partial<ClaimOptions>): Promise<ClaimedDelivery[]>;
  /** Adds pending deliveries, all of one instant, as an import makes them. */
  addAtOnce(count: number, prefix: string): Promise<unknown>;
  /** Pending deliveries that come before the bound of their lane. */
  hidden(): Promise<unknown[]>;
  stop(): Promise<void>;
}

export async function serveClaims(): Promise<ServedClaims> {
  const sending = await serveSending();
  const db = openPool({ url: sending.databaseUrl, max: 1, applicationName: "claims", statementTimeoutMs: SET_UP_MS, ...BY_INDEX });
  const receiver = await sending.createReceiver("http://127.0.0.1:1/");
  await db.query("update webhook.lanes set max_in_flight = 64");
  return {
    sending,
    receiver,
    db,
    claim: (more = {}) => claimDeliveries(db, { max: 100, leaseSeconds: 60, failing: true, ...more }),
    addAtOnce: (count, prefix) =>
      db.query(
        `with added as (
           insert into webhook.deliveries (id, receiver_id, event_id, event_created_at, event_type, due_at)
           select 'dlv_' || $3 || lpad(n::text, 8, '0'), $1, 'evt_' || n, now(), 'payout.paid', '2026-01-01T00:00:00Z' from generate_series(1, $2::int) n)
         update webhook.lanes set next_due = '2026-01-01T00:00:00Z', bound_due = '-infinity' where receiver_id = $1`,
        [receiver.id, count, prefix],
      ),
    hidden: () =>
      sending.db.query(
        `select d.id from webhook.deliveries d join webhook.lanes l using (receiver_id) where d.state = 'pending' and (d.due_at, d.id) < ${BOUND}`,
      ),
    async stop() {
      await db.stop();
      await sending.stop();
    },
  };
}
