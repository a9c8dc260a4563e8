import type { ReceiversServiceService } from "@brand-records/proto/webhook/v1";
import type { Handlers } from "@brand-records/rpc";
import { check } from "@brand-records/service";
import { createReceiver } from "../domain/create-receiver.ts";
import { deleteReceiver } from "../domain/delete-receiver.ts";
import { disableReceiver } from "../domain/disable-receiver.ts";
import { enableReceiver } from "../domain/enable-receiver.ts";
import { fields, readNewReceiver, readReceiverChange } from "../domain/receiver-fields.ts";
import { existing, type ReceiverKey } from "../domain/receiver.ts";
import { updateReceiver } from "../domain/update-receiver.ts";
import type { ReceiverParts } from "../receiver-parts.ts";
import { findReceiver, listReceivers } from "../storage/receivers.ts";

export function receiversHandlers(parts: ReceiverParts): Handlers<ReceiversServiceService> {
  const { db, ports } = parts;
  return {
    async createReceiver(request) {
      return createReceiver(parts, readNewReceiver(request, ports));
    },
    async getReceiver(request) {
      return { receiver: existing(await findReceiver(db, keyIn(request))) };
    },
    async listReceivers(request) {
      const { brand_id } = check({ brand_id: fields.brandId }, request);
      return { receivers: await listReceivers(db, brand_id) };
    },
    async updateReceiver(request) {
      return { receiver: await updateReceiver(parts, readReceiverChange(request, ports)) };
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
  };
}

const key = { brand_id: fields.brandId, receiver_id: fields.receiverId };

function keyIn(request: object): ReceiverKey {
  const { brand_id, receiver_id } = check(key, request);
  return { brandId: brand_id, receiverId: receiver_id };
}
