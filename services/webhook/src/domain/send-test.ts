import { isEventType, type EventType } from "@brand-records/brand-events";
import { AppError } from "@brand-records/errors";
import { newId } from "@brand-records/typeid";
import type { ReceiverParts } from "../receiver-parts.ts";
import { ensureDays } from "../storage/intake.ts";
import { lockLane } from "../storage/receivers.ts";
import { findTested, insertTestDelivery } from "../storage/test-deliveries.ts";
import { noSuchReceiver, type ReceiverKey } from "./receiver.ts";
import { sampleData } from "./sample-data.ts";

export interface QueuedTest {
  readonly deliveryId: string;
  readonly eventId: string;
}

/**
 * Queues a delivery of sample data, which goes the way every delivery goes. Queued does not mean delivered.
 *
 * @param type one of the selected ones; the first of them unless told otherwise
 * @throws AppError `not_found`, `receiver_disabled`, `invalid_request`
 */
export async function sendTest(
  { db }: Pick<ReceiverParts, "db">,
  key: ReceiverKey,
  type: EventType | undefined,
  now: () => number = Date.now,
): Promise<QueuedTest> {
  const createdAt = new Date(now()).toISOString();
  await ensureDays(db, [createdAt.slice(0, 10)]);
  const [deliveryId, eventId] = [newId("dlv"), newId("evt")];
  await db.transaction(async (sql) => {
    const tested = (await lockLane(sql, key)) ? await findTested(sql, key) : undefined;
    if (tested === undefined) throw noSuchReceiver();
    if (!tested.enabled) throw receiverDisabled();
    const chosen = typeAmong(tested.events, type);
    await insertTestDelivery(sql, {
      id: deliveryId,
      receiver_id: key.receiverId,
      event_id: eventId,
      created_at: createdAt,
      brand_id: key.brandId,
      type: chosen,
      data: JSON.stringify(sampleData(chosen, createdAt)),
    });
  });
  return { deliveryId, eventId };
}

function typeAmong(selected: readonly string[], asked: EventType | undefined): EventType {
  const types = selected.filter(isEventType);
  const chosen = asked ?? types[0];
  if (chosen !== undefined && types.includes(chosen)) return chosen;
  throw new AppError("invalid_request", `type must be one that the receiver selects: ${types.join(", ")}`, { field: "type" });
}

const receiverDisabled = (): AppError =>
  new AppError("receiver_disabled", "The receiver is disabled, and only enabled ones can be tested. Enable it first.");
