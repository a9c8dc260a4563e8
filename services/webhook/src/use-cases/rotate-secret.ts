import { AppError } from "@brand-records/errors";
import type { Database } from "@brand-records/postgres";
import { receiverNotFound, requireReceiver, type Receiver, type ReceiverKey } from "../domain/receiver.ts";
import type { SecretKeys } from "../domain/secret-keys.ts";
import { newSigningSecret, sealSigningSecret } from "../domain/signing-secret.ts";
import { activateNextSecret, findReceiver, setNextSecret } from "../storage/receivers.ts";

/**
 * Starts a rotation: creates the next secret. The current one stays in force until the next one is activated. A repeat replaces
 * the next secret, so a lost one can be made again.
 *
 * @returns the receiver and its next secret, which is never shown again
 * @throws AppError `not_found`
 */
export async function rotateSecret(db: Database, keys: SecretKeys, key: ReceiverKey): Promise<{ receiver: Receiver; secret: string }> {
  const secret = newSigningSecret();
  if (!(await setNextSecret(db, key, sealSigningSecret(keys, key.receiverId, secret)))) throw receiverNotFound();
  return { receiver: requireReceiver(await findReceiver(db, key)), secret };
}

/**
 * Ends a rotation: attempts from now on are signed with the next secret alone. Of several simultaneous calls, one succeeds.
 *
 * @throws AppError `not_found`, `no_next_secret`
 */
export async function activateSecret(db: Database, key: ReceiverKey): Promise<Receiver> {
  const activated = await activateNextSecret(db, key);
  const receiver = requireReceiver(await findReceiver(db, key));
  if (!activated)
    throw new AppError(
      "no_next_secret",
      "There is no next secret to activate: none was created, or it is already in force. Rotate the secret to create one.",
    );
  return receiver;
}
