import { isUniqueViolation } from "@brand-records/postgres";
import type { ReceiverParts } from "../receiver-parts.ts";
import { changeReceiver, findReceiver } from "../storage/receivers.ts";
import type { ReceiverChange } from "./receiver-fields.ts";
import { duplicateUrl, existing, type Receiver } from "./receiver.ts";

/**
 * Changes what is given. Its secret stays, and so does what waits for it.
 *
 * @throws AppError `not_found`, `duplicate_url`
 */
export async function updateReceiver({ db }: Pick<ReceiverParts, "db">, change: ReceiverChange): Promise<Receiver> {
  const { url, label, events } = change;
  if (url !== undefined || label !== undefined || events !== undefined) {
    try {
      await changeReceiver(db, change);
    } catch (error) {
      if (isUniqueViolation(error)) throw duplicateUrl();
      throw error;
    }
  }
  return existing(await findReceiver(db, change));
}
