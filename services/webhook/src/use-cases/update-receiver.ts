import { isUniqueViolation, type Database, type Sql } from "@brand-records/postgres";
import { duplicateUrl, receiverNotFound, requireReceiver, type Receiver, type ReceiverChange } from "../domain/receiver.ts";
import { forgetFailures, limitLane, lockLane } from "../storage/lanes.ts";
import { changeReceiver, findReceiver, findSettings } from "../storage/receivers.ts";

/**
 * Changes the given fields of a receiver. Keeps its secret and its pending deliveries. If `maxInFlight` falls below the number of
 * attempts in flight, these continue, and no other attempt starts until there is room.
 *
 * @throws AppError `not_found`, `duplicate_url`
 */
export async function updateReceiver(db: Database, change: ReceiverChange): Promise<Receiver> {
  const { url, label, events, maxInFlight } = change;
  try {
    if (maxInFlight !== undefined || url !== undefined) await db.transaction((sql) => changeWithLane(sql, change));
    else if (label !== undefined || events !== undefined) await changeReceiver(db, change);
  } catch (error) {
    if (isUniqueViolation(error)) throw duplicateUrl();
    throw error;
  }
  return requireReceiver(await findReceiver(db, change));
}

/** Changes the receiver while its lane is locked. Failures of the old URL do not count against a new one. */
async function changeWithLane(sql: Sql, change: ReceiverChange): Promise<void> {
  const { receiverId, url, maxInFlight } = change;
  if (!(await lockLane(sql, change))) throw receiverNotFound();
  const before = await findSettings(sql, change);
  await changeReceiver(sql, change);
  if (maxInFlight !== undefined) await limitLane(sql, receiverId, maxInFlight);
  if (url !== undefined && url !== before?.url) await forgetFailures(sql, receiverId);
}
