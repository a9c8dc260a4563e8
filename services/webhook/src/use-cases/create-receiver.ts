import { AppError } from "@brand-records/errors";
import { newId } from "@brand-records/ids";
import type { WebhookDependencies } from "../dependencies.ts";
import { duplicateUrl, RECEIVERS_MAX, requireReceiver, type NewReceiver, type Receiver } from "../domain/receiver.ts";
import { newSigningSecret, sealSigningSecret } from "../domain/signing-secret.ts";
import { lockBrand } from "../storage/brands.ts";
import { countReceivers, findReceiver, insertReceiver } from "../storage/receivers.ts";
import { sharedSecretKey } from "./shared-secret-key.ts";

/**
 * Adds a receiver, up to twenty for a brand. The limit is exact, even if several are added at the same time.
 *
 * @returns the receiver and its signing secret, which is never shown again
 * @throws AppError `not_found`, `duplicate_url`, `receiver_limit`, `unavailable`
 */
export async function createReceiver(
  { db, keys, brands }: Pick<WebhookDependencies, "db" | "keys" | "brands">,
  input: NewReceiver,
): Promise<{ receiver: Receiver; secret: string }> {
  const { brandId } = input;
  if (!(await brands.isKnown(brandId))) throw brandNotFound();
  const id = newId("rcv");
  const secret = newSigningSecret();
  return db.transaction(async (sql) => {
    // The brand's deletion may have begun since.
    if (!(await lockBrand(sql, brandId))) throw brandNotFound();
    const sealed = sealSigningSecret(await sharedSecretKey(sql, keys), id, secret);
    // Checked before the limit: a caller who repeats a call whose response was lost gets `duplicate_url`, which shows that the call
    // succeeded, even if the brand is now at its limit.
    if (!(await insertReceiver(sql, { ...input, id, ...sealed }))) throw duplicateUrl();
    if ((await countReceivers(sql, brandId)) > RECEIVERS_MAX) throw receiverLimit();
    return { receiver: requireReceiver(await findReceiver(sql, { brandId, receiverId: id })), secret };
  });
}

const brandNotFound = (): AppError => new AppError("not_found", "There is no brand with this id", { field: "brand_id" });

const receiverLimit = (): AppError =>
  new AppError(
    "receiver_limit",
    `The brand has ${RECEIVERS_MAX} receivers, the maximum. Delete one that is no longer needed, or forward events from an existing one.`,
  );
