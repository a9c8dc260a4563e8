import type pg from "pg";
import { brandOf } from "./outbox.ts";

/** Gives a receiver `count` overdue deliveries, as after a long outage. */
export async function addBacklog(client: pg.Client, receiver: number, receiverId: string, count: number): Promise<void> {
  await client.query("select webhook.ensure_day(current_date)");
  await client.query(
    `with made as (
       insert into webhook.events (id, created_at, brand_id, type, data)
       select records.new_id('evt', now()), now(), $2, 'submission.approved', '{"resource":"submissions","id":"sub_0"}' from generate_series(1, $3)
       returning id, created_at)
     insert into webhook.deliveries (id, receiver_id, event_id, event_created_at, event_type, due_at)
     select records.new_id('dlv', now()), $1, id, created_at, 'submission.approved', now() - interval '1 hour' from made`,
    [receiverId, brandOf(receiver), count],
  );
  await client.query("vacuum analyze webhook.deliveries");
  // No pending delivery may come before its lane's next_due.
  await client.query("update webhook.lanes set next_due = '-infinity' where receiver_id = $1", [receiverId]);
  await client.query("notify webhook_deliveries");
}

/**
 * Deletes what the receiver has pending, and nothing else: a vacuum would hide what the dead rows cost. Returns the number of
 * deleted deliveries.
 */
export async function deleteBacklog(client: pg.Client, receiverId: string): Promise<number> {
  const { rowCount } = await client.query("delete from webhook.deliveries where receiver_id = $1 and state = 'pending'", [receiverId]);
  return rowCount ?? 0;
}
