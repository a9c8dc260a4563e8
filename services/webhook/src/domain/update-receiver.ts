import { isUniqueViolation, type Sql } from "@brand-records/postgres";
import type { ReceiverParts } from "../receiver-parts.ts";
import { changeReceiver, findReceiver, forgetFailures, limitLane, lockLane } from "../storage/receivers.ts";
import type { ReceiverChange } from "./receiver-fields.ts";
import { duplicateUrl, existing, noSuchReceiver, type Receiver } from "./receiver.ts";

/**
 * Changes what is given. Its secret stays, and so does what waits for it. Attempts that are under way beyond a lower
 * `maxInFlight` are not cut short; no other begins before there is room.
 *
 * @throws AppError `not_found`, `duplicate_url`
 */
export async function updateReceiver({ db }: Pick<ReceiverParts, "db">, change: ReceiverChange): Promise<Receiver> {
  const { url, label, events, maxInFlight } = change;
  try {
    if (maxInFlight !== undefined || url !== undefined) await db.transaction((sql) => changeWithLane(sql, change));
    else if (label !== undefined || events !== undefined) await changeReceiver(db, change);
  } catch (error) {
    if (isUniqueViolation(error)) throw duplicateUrl();
    throw error;
  }
  return existing(await findReceiver(db, change));
}

/** The lane first, as everybody does who needs both. What its old URL has done does not count against the new one. */
async function changeWithLane(sql: Sql, change: ReceiverChange): Promise<void> {
  const { receiverId, url, maxInFlight } = change;
  if (!(await lockLane(sql, change))) throw noSuchReceiver();
  const before = await findReceiver(sql, change);
  await changeReceiver(sql, change);
  if (maxInFlight !== undefined) await limitLane(sql, receiverId, maxInFlight);
  if (url !== undefined && url !== before?.url) await forgetFailures(sql, receiverId);
}
