import type { Sql, Statement } from "@brand-records/postgres";
import type { ReceiverKey } from "../domain/receiver.ts";
import { wakeLanes } from "./intake.ts";

export interface TestDelivery {
  readonly id: string;
  readonly receiver_id: string;
  readonly event_id: string;
  readonly created_at: string;
  readonly brand_id: string;
  readonly type: string;
  /** JSON. */
  readonly data: string;
}

const statements = {
  mayBeTested: {
    name: "test_deliveries.may_be_tested",
    text: "select r.enabled, r.events from webhook.receivers r where r.brand_id = $1 and r.id = $2",
  },
  insertEvent: {
    name: "test_deliveries.insert_event",
    text: "insert into webhook.events (id, created_at, brand_id, type, data, test) values ($1, $2, $3, $4, $5::json, true)",
  },
  insertDelivery: {
    name: "test_deliveries.insert_delivery",
    text: "insert into webhook.deliveries (id, receiver_id, event_id, event_created_at, test) values ($1, $2, $3, $4, true)",
  },
} satisfies Record<string, Statement>;

/** What a test of the receiver depends on. The lane must be locked: whoever disables the receiver locks it too. */
export async function findTested(
  sql: Sql,
  { brandId, receiverId }: ReceiverKey,
): Promise<{ readonly enabled: boolean; readonly events: readonly string[] } | undefined> {
  const [row] = await sql.query<{ enabled: boolean; events: string[] }>(statements.mayBeTested, [brandId, receiverId]);
  return row;
}

/** With its event; due at once. The lane must be locked, and the partition of the day must be there. */
export async function insertTestDelivery(sql: Sql, delivery: TestDelivery): Promise<void> {
  const { id, receiver_id, event_id, created_at, brand_id, type, data } = delivery;
  await sql.query(statements.insertEvent, [event_id, created_at, brand_id, type, data]);
  await sql.query(statements.insertDelivery, [id, receiver_id, event_id, created_at]);
  await wakeLanes(sql, [receiver_id]);
}
