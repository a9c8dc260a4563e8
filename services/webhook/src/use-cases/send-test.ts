import { isEventType, sampleData, type EventType } from "@brand-records/resources";
import { AppError } from "@brand-records/errors";
import type { Database } from "@brand-records/postgres";
import { newId } from "@brand-records/ids";
import type { RecordChange } from "@brand-records/service-runtime";
import { noNextSecret, receiverDisabled, receiverNotFound, requireRoomForTest, type ReceiverKey } from "../domain/receiver.ts";
import { isBrandOpen } from "../storage/brands.ts";
import { ensureDays } from "../storage/daily-partitions.ts";
import { insertTestDelivery } from "../storage/deliveries.ts";
import { insertTestEvent } from "../storage/events.ts";
import { lockLane } from "../storage/lanes.ts";
import { findSettings } from "../storage/receivers.ts";
import { recentTests, testDeliveryId } from "../storage/recent-tests.ts";

export interface TestOptions {
  /** One of the types that the receiver selects. Default: the first of them. */
  readonly type?: EventType | undefined;
  /** Signs it with the next secret alone: the one that there is at each attempt. */
  readonly next?: boolean;
}

/**
 * Queues a delivery of sample data, which is sent like every other delivery. Queued does not mean delivered. The limit on tests is exact
 * over all processes: they count and add under the lane's lock.
 *
 * @throws AppError `not_found`, `receiver_disabled`, `no_next_secret`, `invalid_request`, `rate_limited`
 */
export async function sendTest(
  db: Database,
  key: ReceiverKey,
  record: RecordChange,
  { type, next = false }: TestOptions = {},
  now: () => number = Date.now,
): Promise<{ deliveryId: string; eventId: string }> {
  const { brandId, receiverId } = key;
  const created_at = new Date(now()).toISOString();
  await ensureDays(db, [created_at.slice(0, 10)]);
  const eventId = newId("evt");
  const deliveryId = testDeliveryId(eventId);
  await db.transaction(async (sql) => {
    const receiver = (await lockLane(sql, key)) ? await findSettings(sql, key) : undefined;
    if (receiver === undefined || !(await isBrandOpen(sql, brandId))) throw receiverNotFound();
    if (!receiver.enabled) throw receiverDisabled("tested");
    if (next && !receiver.rotating) throw noNextSecret();
    const chosen = chooseType(receiver.events, type);
    requireRoomForTest(await recentTests(sql, key));
    const data = JSON.stringify(sampleData(chosen, created_at));
    await insertTestEvent(sql, { id: eventId, created_at, brand_id: brandId, type: chosen, data });
    const delivery = { id: deliveryId, receiver_id: receiverId, event_id: eventId, event_created_at: created_at, event_type: chosen };
    await insertTestDelivery(sql, { ...delivery, sign_with_next: next });
    await record(sql);
  });
  return { deliveryId, eventId };
}

function chooseType(selected: readonly string[], requested: EventType | undefined): EventType {
  const types = selected.filter(isEventType);
  const chosen = requested ?? types[0];
  if (chosen !== undefined && types.includes(chosen)) return chosen;
  throw new AppError("invalid_request", `type must be one that the receiver selects: ${types.join(", ")}`, { field: "type" });
}
