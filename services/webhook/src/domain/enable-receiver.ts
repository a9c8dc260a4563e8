import type { Database } from "@brand-records/postgres";
import type { ReceiverParts } from "../receiver-parts.ts";
import { dropWaiting, timeOfDay } from "../storage/held-deliveries.ts";
import { enableReceiver as enable, findReceiver, lockLane, releaseLane } from "../storage/receivers.ts";
import { existing, noSuchReceiver, type Receiver, type ReceiverKey } from "./receiver.ts";

/** What becomes of the deliveries that were held. */
export type Held = "release" | "drop";

/**
 * Sends again. What is to be dropped is dropped first, while the lane is still held, so nothing of it is ever sent; what comes
 * meanwhile stays. Interrupted, the receiver is still disabled, and a repeat finishes. One that is enabled already is left
 * alone, and so is what waits for it.
 *
 * @throws AppError `not_found`
 */
export async function enableReceiver(
  { db, dropping }: Pick<ReceiverParts, "db" | "dropping">,
  key: ReceiverKey,
  held: Held,
): Promise<{ receiver: Receiver; dropped: number }> {
  const before = existing(await findReceiver(db, key));
  if (before.enabled) return { receiver: before, dropped: 0 };
  const dropped = held === "drop" ? await dropWaiting(db, key.receiverId, { ...dropping, createdUntil: await timeOfDay(db) }) : 0;
  await open(db, key);
  return { receiver: existing(await findReceiver(db, key)), dropped };
}

async function open(db: Database, key: ReceiverKey): Promise<void> {
  await db.transaction(async (sql) => {
    // Before the deliveries are looked at: whoever adds some holds the lane, so none of theirs is overlooked.
    if (!(await lockLane(sql, key))) throw noSuchReceiver();
    if (await enable(sql, key)) await releaseLane(sql, key.receiverId);
  });
}
