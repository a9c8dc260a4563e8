import { AppError } from "@brand-records/errors";
import type { Receiver } from "@brand-records/proto/webhook/v1";
import type { Handlers, InBrand } from "./operation.ts";

export const RECEIVERS: Handlers<"receivers"> = {
  "receivers.list": {
    async run({ receivers }, { call, brand }, input) {
      const { receivers: all } = await receivers.listReceivers(input, call);
      return { receivers: all.map((receiver) => toReceiver(receiver, brand)) };
    },
  },
  "receivers.get": {
    run: async ({ receivers }, { call, brand }, input) => shown(await receivers.getReceiver(input, call), brand),
  },
  "receivers.create": {
    audit: { action: "receiver.create", created: ({ receiver }) => receiver.id, fields: () => ["url", "label", "events"] },
    run: async ({ receivers }, { call, brand, person }, input) =>
      shown(await receivers.createReceiver({ ...input, acting_member: person.email }, call), brand),
  },
  "receivers.update": {
    audit: {
      action: "receiver.update",
      subject: ({ receiver_id }) => receiver_id,
      fields: ({ brand_id: _brand, receiver_id: _receiver, ...changes }) => Object.keys(changes),
    },
    run: async ({ receivers }, { call, brand, person }, { events = [], ...input }) =>
      shown(await receivers.updateReceiver({ ...input, events, acting_member: person.email }, call), brand),
  },
  "receivers.enable": {
    audit: { action: "receiver.enable", subject: ({ receiver_id }) => receiver_id, fields: () => ["held"] },
    async run({ receivers }, { call, brand, person }, input) {
      const enabled = await receivers.enableReceiver({ ...input, acting_member: person.email }, call);
      if (enabled.receiver?.enabled === false) throw disabledMeanwhile();
      return shown(enabled, brand);
    },
  },
  "receivers.disable": {
    audit: { action: "receiver.disable", subject: ({ receiver_id }) => receiver_id },
    run: async ({ receivers }, { call, brand, person }, input) =>
      shown(await receivers.disableReceiver({ ...input, acting_member: person.email }, call), brand),
  },
  "receivers.delete": {
    audit: { action: "receiver.delete", subject: ({ receiver_id }) => receiver_id },
    run: ({ receivers }, { call, person }, input) => receivers.deleteReceiver({ ...input, acting_member: person.email }, call),
  },
  "receivers.rotate": {
    audit: { action: "receiver.rotate_secret", subject: ({ receiver_id }) => receiver_id },
    run: async ({ receivers }, { call, brand, person }, input) =>
      shown(await receivers.rotateSecret({ ...input, acting_member: person.email }, call), brand),
  },
  "receivers.activate": {
    audit: { action: "receiver.activate_secret", subject: ({ receiver_id }) => receiver_id },
    run: async ({ receivers }, { call, brand, person }, input) =>
      shown(await receivers.activateSecret({ ...input, acting_member: person.email }, call), brand),
  },
  "receivers.send_waiting": {
    audit: { action: "receiver.send_waiting", subject: ({ receiver_id }) => receiver_id, fields: () => ["all"] },
    run: async ({ receivers }, { call, brand, person }, input) =>
      shown(await receivers.sendWaiting({ ...input, acting_member: person.email }, call), brand),
  },
  "receivers.test": {
    audit: { action: "receiver.test", subject: ({ receiver_id }) => receiver_id, fields: () => ["type"] },
    run: ({ receivers }, { call, person }, input) => receivers.sendTest({ ...input, acting_member: person.email }, call),
  },
};

const disabledMeanwhile = (): AppError =>
  new AppError("request_conflict", "The receiver was disabled again meanwhile, and stays so. What was dropped until then is gone.");

/** Path and query of a URL may be a token: only owners see them. */
const toReceiver = (receiver: Receiver, { role }: InBrand["brand"]): Receiver => ({
  ...receiver,
  url: role === "owner" ? receiver.url : new URL(receiver.url).origin,
});

/** A service's response with its receiver, as the caller may see it. */
function shown<Response extends { readonly receiver?: Receiver | null | undefined }>(response: Response, brand: InBrand["brand"]) {
  if (response.receiver == null) throw new Error("webhook returned no receiver");
  return { ...response, receiver: toReceiver(response.receiver, brand) };
}
