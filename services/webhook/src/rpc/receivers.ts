import { parseRequest } from "@brand-records/errors";
import type { Receiver, ReceiversServiceService } from "@brand-records/proto/webhook/v1";
import type { CallContext, Handlers } from "@brand-records/rpc";
import { z } from "zod";
import type { WebhookDependencies } from "../dependencies.ts";
import type { ReceiverKey } from "../domain/receiver.ts";
import { createReceiver, deleteReceiver, getReceiver, receiversOf, updateReceiver } from "../use-cases/receivers.ts";
import { disableReceiver, enableReceiver, sendWaiting } from "../use-cases/enable-receiver.ts";
import { activateSecret, rotateSecret } from "../use-cases/rotate-secret.ts";
import { sendTest } from "../use-cases/send-test.ts";
import { deliveryMessage } from "./delivery-message.ts";
import { fields } from "./fields.ts";
import { readNewReceiver, readReceiverChange } from "./receiver-fields.ts";

export type ReceiversDependencies = Pick<
  WebhookDependencies,
  "db" | "keys" | "brands" | "ports" | "loopback" | "dropping" | "onDisabled" | "deadlineMs"
>;

export function receiversHandlers(deps: ReceiversDependencies): Handlers<ReceiversServiceService> {
  const { db, keys, dropping, onDisabled, deadlineMs } = deps;
  return {
    async createReceiver(request) {
      return createReceiver(deps, readNewReceiver(request, deps));
    },
    async getReceiver(request, call) {
      return { receiver: shownTo(call, await getReceiver(db, keyIn(request))) };
    },
    async listReceivers(request, call) {
      const { brand_id } = parseRequest({ brand_id: fields.brandId }, request);
      return { receivers: (await receiversOf(db, brand_id)).map((receiver) => shownTo(call, receiver)) };
    },
    async updateReceiver(request) {
      return { receiver: await updateReceiver(db, readReceiverChange(request, deps)) };
    },
    async enableReceiver(request) {
      const { brand_id, receiver_id, held } = parseRequest({ ...key, held: fields.held }, request);
      return enableReceiver(db, { brandId: brand_id, receiverId: receiver_id }, held, dropping);
    },
    async disableReceiver(request) {
      return { receiver: await disableReceiver(db, keyIn(request), onDisabled) };
    },
    async deleteReceiver(request) {
      return { dropped: await deleteReceiver(db, keyIn(request), dropping) };
    },
    async rotateSecret(request) {
      const { brand_id, receiver_id, replace } = parseRequest({ ...key, replace: z.boolean().nullish() }, request);
      return rotateSecret(db, keys, { brandId: brand_id, receiverId: receiver_id }, { replace: replace ?? undefined });
    },
    async activateSecret(request) {
      const { brand_id, receiver_id, force } = parseRequest({ ...key, force: z.boolean() }, request);
      return { receiver: await activateSecret(db, { brandId: brand_id, receiverId: receiver_id }, { force }) };
    },
    async sendWaiting(request) {
      const { brand_id, receiver_id, all } = parseRequest({ ...key, all: z.boolean() }, request);
      const { receiver, first } = await sendWaiting(db, { brandId: brand_id, receiverId: receiver_id }, all, dropping);
      return { receiver, first: first === undefined ? null : deliveryMessage(first, deadlineMs) };
    },
    async sendTest(request) {
      const { brand_id, receiver_id, type, next } = parseRequest({ ...key, type: fields.type.nullish(), next: z.boolean() }, request);
      const { deliveryId, eventId } = await sendTest(db, { brandId: brand_id, receiverId: receiver_id }, { type: type ?? undefined, next });
      return { delivery_id: deliveryId, event_id: eventId };
    },
  };
}

/** Path and query of a URL may be a token: of people, only owners see them. */
const shownTo = ({ person }: CallContext, receiver: Receiver): Receiver =>
  person === undefined || person.brand?.role === "owner" ? receiver : { ...receiver, url: new URL(receiver.url).origin };

const key = { brand_id: fields.brandId, receiver_id: fields.receiverId };

function keyIn(request: object): ReceiverKey {
  const { brand_id, receiver_id } = parseRequest(key, request);
  return { brandId: brand_id, receiverId: receiver_id };
}
