import { AppError } from "@brand-records/errors";
import type { Database } from "@brand-records/postgres";
import type { RecordChange } from "@brand-records/service-runtime";
import type { WebhookDependencies } from "../dependencies.ts";
import { noNextSecret, receiverNotFound, requireReceiver, type Receiver, type ReceiverKey } from "../domain/receiver.ts";
import { newSigningSecret, sealSigningSecret } from "../domain/signing-secret.ts";
import { activateNextSecret, findReceiver, findSettings, setNextSecret } from "../storage/receivers.ts";
import { sharedSecretKey } from "./secret-keys.ts";

/**
 * Starts a rotation: creates the next secret. The current one stays in force until the next one is activated. A lost next secret can be
 * made again.
 *
 * @param replace replaces a next secret; what has that one alone then refuses deliveries
 * @returns the receiver and its next secret, which is never shown again
 * @throws AppError `not_found`, `unavailable`, `request_conflict` if there is a next secret that must stay
 */
export async function rotateSecret(
  { db, keys }: Pick<WebhookDependencies, "db" | "keys">,
  key: ReceiverKey,
  record: RecordChange,
  { replace = true }: { readonly replace?: boolean | undefined } = {},
): Promise<{ receiver: Receiver; secret: string }> {
  const secret = newSigningSecret();
  await db.transaction(async (sql) => {
    const sealed = sealSigningSecret(await sharedSecretKey(sql, keys), key.receiverId, secret);
    if (await setNextSecret(sql, key, sealed, replace)) return record(sql);
    throw (await findSettings(sql, key)) === undefined ? receiverNotFound() : nextSecretExists();
  });
  return { receiver: requireReceiver(await findReceiver(db, key)), secret };
}

/**
 * Ends a rotation: attempts from now on are signed with the next secret alone. Of several simultaneous calls, one succeeds. A secret
 * that a simultaneous rotation has just made is refused: no test by it was accepted.
 *
 * @param force also if the receiver has not accepted a test signed with the next secret
 * @throws AppError `not_found`, `no_next_secret`, `next_secret_not_accepted`
 */
export async function activateSecret(
  db: Database,
  key: ReceiverKey,
  record: RecordChange,
  { force }: { readonly force: boolean },
): Promise<Receiver> {
  const isActivated = await db.transaction(async (sql) => {
    const isChanged = await activateNextSecret(sql, key, force);
    if (isChanged) await record(sql);
    return isChanged;
  });
  const receiver = requireReceiver(await findReceiver(db, key));
  if (isActivated) return receiver;
  throw receiver.rotating ? nextSecretNotAccepted() : noNextSecret();
}

const nextSecretExists = (): AppError =>
  new AppError("request_conflict", "There is a next secret already, made meanwhile. Activate it, or replace it for good.");

const nextSecretNotAccepted = (): AppError =>
  new AppError(
    "next_secret_not_accepted",
    "The receiver has not accepted a test signed with the next secret. Give it the secret and send it such a test, or force the activation.",
  );
