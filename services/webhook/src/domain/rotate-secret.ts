import type { ReceiverParts } from "../receiver-parts.ts";
import { findReceiver } from "../storage/receivers.ts";
import { setNextSecret } from "../storage/rotation.ts";
import { existing, noSuchReceiver, type Receiver, type ReceiverKey } from "./receiver.ts";
import { newSigningSecret, sealSigningSecret } from "./signing-secret.ts";

/**
 * Makes the next secret; the one in force stays in force until that is activated. Repeated, the one made before is worthless:
 * whoever lost it makes another.
 *
 * @returns also the next secret, which nobody can be told again
 * @throws AppError `not_found`
 */
export async function rotateSecret(
  { db, keys }: Pick<ReceiverParts, "db" | "keys">,
  key: ReceiverKey,
): Promise<{ receiver: Receiver; secret: string }> {
  const secret = newSigningSecret();
  if (!(await setNextSecret(db, key, sealSigningSecret(keys, key.receiverId, secret)))) throw noSuchReceiver();
  return { receiver: existing(await findReceiver(db, key)), secret };
}
