import { AppError } from "@brand-records/errors";
import { newId } from "@brand-records/typeid";
import type { ReceiverParts } from "../receiver-parts.ts";
import { countReceivers, findReceiver, holdBrand, insertReceiver } from "../storage/receivers.ts";
import type { NewReceiver } from "./receiver-fields.ts";
import { duplicateUrl, existing, RECEIVERS_MAX, type Receiver } from "./receiver.ts";
import { newSigningSecret, sealSigningSecret } from "./signing-secret.ts";

/**
 * Adds a receiver, unless the brand has twenty: exactly, however many are added at once.
 *
 * @returns also its signing secret, which nobody can be told again
 * @throws AppError `not_found`, `duplicate_url`, `receiver_limit`
 */
export async function createReceiver(
  { db, keys, brands }: ReceiverParts,
  input: NewReceiver,
): Promise<{ receiver: Receiver; secret: string }> {
  const { brandId } = input;
  if (!(await brands.isKnown(brandId))) throw new AppError("not_found", "There is no brand of this id", { field: "brand_id" });
  const id = newId("rcv");
  const secret = newSigningSecret();
  return db.transaction(async (sql) => {
    await holdBrand(sql, brandId);
    // First: who repeats a call whose answer was lost learns that it was done, also at the limit.
    if (!(await insertReceiver(sql, { ...input, id, ...sealSigningSecret(keys, id, secret) }))) throw duplicateUrl();
    if ((await countReceivers(sql, brandId)) > RECEIVERS_MAX) throw receiverLimit();
    return { receiver: existing(await findReceiver(sql, { brandId, receiverId: id })), secret };
  });
}

const receiverLimit = (): AppError =>
  new AppError(
    "receiver_limit",
    `The brand has ${RECEIVERS_MAX} receivers, which is as many as it may. Delete one that is not needed any more, or send its events on from one there is.`,
  );
