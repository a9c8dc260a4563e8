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
  "db" | "audit" | "keys" | "brands" | "ports" | "loopback" | "chunks" | "onDisabled" | "deadlineMs"
>;

export function receiversHandlers(deps: ReceiversDependencies): Handlers<ReceiversServiceService> {
  const { db, audit, chunks, onDisabled, deadlineMs } = deps;
  return {
    async createReceiver(request, call) {
      return createReceiver(deps, readNewReceiver(request, deps), audit.record(call));
    },
    async getReceiver(request, call) {
      return { receiver: shownTo(call, await getReceiver(db, keyIn(request))) };
    },
    async listReceivers(request, call) {
      const { brand_id } = parseRequest({ brand_id: fields.brandId }, request);
      return { receivers: (await receiversOf(db, brand_id)).map((receiver) => shownTo(call, receiver)) };
    },
    async updateReceiver(request, call) {
      return { receiver: await updateReceiver(db, readReceiverChange(request, deps), audit.record(call)) };
    },
    async enableReceiver(request, call) {
      const { brand_id, receiver_id, held } = parseRequest({ ...key, held: fields.held }, request);
      return enableReceiver(db, { brandId: brand_id, receiverId: receiver_id }, held, audit.record(call), chunks);
    },
    async disableReceiver(request, call) {
      return { receiver: await disableReceiver(db, keyIn(request), audit.record(call), onDisabled) };
    },
    async deleteReceiver(request, call) {
      return { dropped: await deleteReceiver(db, keyIn(request), audit.record(call), chunks) };
    },
    async rotateSecret(request, call) {
      const { brand_id, receiver_id, replace } = parseRequest({ ...key, replace: z.boolean().nullish() }, request);
      return rotateSecret(deps, { brandId: brand_id, receiverId: receiver_id }, audit.record(call), { replace: replace ?? undefined });
    },
    async activateSecret(request, call) {
      const { brand_id, receiver_id, force } = parseRequest({ ...key, force: z.boolean() }, request);
      return { receiver: await activateSecret(db, { brandId: brand_id, receiverId: receiver_id }, audit.record(call), { force }) };
    },
    async sendWaiting(request, call) {
      const { brand_id, receiver_id, all } = parseRequest({ ...key, all: z.boolean() }, request);
      const waiting = { brandId: brand_id, receiverId: receiver_id };
      const { receiver, first } = await sendWaiting(db, waiting, all, audit.record(call), chunks);
      return { receiver, first: first === undefined ? null : deliveryMessage(first, deadlineMs) };
    },
    async sendTest(request, call) {
      const { brand_id, receiver_id, type, next } = parseRequest({ ...key, type: fields.type.nullish(), next: z.boolean() }, request);
      const tested = { brandId: brand_id, receiverId: receiver_id };
      const { deliveryId, eventId } = await sendTest(db, tested, audit.record(call), { type: type ?? undefined, next });
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
