import type { ReceiversServiceService } from "@brand-records/proto/webhook/v1";
import type { Handlers } from "@brand-records/rpc";
import { check } from "@brand-records/service";
import { activateSecret } from "../domain/activate-secret.ts";
import { createReceiver } from "../domain/create-receiver.ts";
import { deleteReceiver } from "../domain/delete-receiver.ts";
import { disableReceiver } from "../domain/disable-receiver.ts";
import { enableReceiver } from "../domain/enable-receiver.ts";
import { fields, readNewReceiver, readReceiverChange } from "../domain/receiver-fields.ts";
import { existing, type ReceiverKey } from "../domain/receiver.ts";
import { rotateSecret } from "../domain/rotate-secret.ts";
import { sendTest } from "../domain/send-test.ts";
import { updateReceiver } from "../domain/update-receiver.ts";
import type { ReceiverParts } from "../receiver-parts.ts";
import { findReceiver, listReceivers } from "../storage/receivers.ts";

export function receiversHandlers(parts: ReceiverParts): Handlers<ReceiversServiceService> {
  const { db } = parts;
  return {
    async createReceiver(request) {
      return createReceiver(parts, readNewReceiver(request, parts));
    },
    async getReceiver(request) {
      return { receiver: existing(await findReceiver(db, keyIn(request))) };
    },
    async listReceivers(request) {
      const { brand_id } = check({ brand_id: fields.brandId }, request);
      return { receivers: await listReceivers(db, brand_id) };
    },
    async updateReceiver(request) {
      return { receiver: await updateReceiver(parts, readReceiverChange(request, parts)) };
    },
    async enableReceiver(request) {
      const { brand_id, receiver_id, held } = check({ ...key, held: fields.held }, request);
      return enableReceiver(parts, { brandId: brand_id, receiverId: receiver_id }, held);
    },
    async disableReceiver(request) {
      return { receiver: await disableReceiver(parts, keyIn(request)) };
    },
    async deleteReceiver(request) {
      return { dropped: await deleteReceiver(parts, keyIn(request)) };
    },
    async rotateSecret(request) {
      return rotateSecret(parts, keyIn(request));
    },
    async activateSecret(request) {
      return { receiver: await activateSecret(parts, keyIn(request)) };
    },
    async sendTest(request) {
      const { brand_id, receiver_id, type } = check({ ...key, type: fields.type.nullish() }, request);
      const { deliveryId, eventId } = await sendTest(parts, { brandId: brand_id, receiverId: receiver_id }, type ?? undefined);
      return { delivery_id: deliveryId, event_id: eventId };
    },
  };
}

const key = { brand_id: fields.brandId, receiver_id: fields.receiverId };

function keyIn(request: object): ReceiverKey {
  const { brand_id, receiver_id } = check(key, request);
  return { brandId: brand_id, receiverId: receiver_id };
}
