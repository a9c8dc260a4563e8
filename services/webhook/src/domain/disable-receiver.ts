import type { ReceiverParts } from "../receiver-parts.ts";
import { disableReceiver as disable, findReceiver, holdLane, lockLane } from "../storage/receivers.ts";
import { existing, noSuchReceiver, type Receiver, type ReceiverKey } from "./receiver.ts";

/**
 * From here on nothing more is sent, and everything is kept. Takes the same time however much waits. Repeated, it changes
 * nothing, the reason neither.
 *
 * @throws AppError `not_found`
 */
export async function disableReceiver({ db }: Pick<ReceiverParts, "db">, key: ReceiverKey): Promise<Receiver> {
  await db.transaction(async (sql) => {
    if (!(await lockLane(sql, key))) throw noSuchReceiver();
    if (await disable(sql, key, "member")) await holdLane(sql, key.receiverId);
  });
  return existing(await findReceiver(db, key));
}
