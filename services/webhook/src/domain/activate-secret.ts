import { AppError } from "@brand-records/errors";
import type { ReceiverParts } from "../receiver-parts.ts";
import { findReceiver } from "../storage/receivers.ts";
import { activateNextSecret } from "../storage/rotation.ts";
import { existing, type Receiver, type ReceiverKey } from "./receiver.ts";

/**
 * Ends a rotation: attempts from here on are signed with the next secret alone. Of any number of calls at once one does it.
 *
 * @throws AppError `not_found`, `no_next_secret`
 */
export async function activateSecret({ db }: Pick<ReceiverParts, "db">, key: ReceiverKey): Promise<Receiver> {
  const activated = await activateNextSecret(db, key);
  const receiver = existing(await findReceiver(db, key));
  if (!activated)
    throw new AppError("no_next_secret", "There is no next secret to activate: none was made, or it is the one in force by now.");
  return receiver;
}
