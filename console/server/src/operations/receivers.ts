import type { Receiver } from "@brand-records/console-contract";
import { AppError } from "@brand-records/errors";
import type { Receiver as ReceiverMessage } from "@brand-records/proto/webhook/v1";
import { toDelivery } from "./deliveries.ts";
import type { BrandHandler, InBrand } from "./operation.ts";

export const listReceivers: BrandHandler<"receivers.list"> = {
  async run({ receivers }, { call, brand }, { brand_id }) {
    const { receivers: all } = await receivers.listReceivers({ brand_id }, call);
    return { receivers: all.map((receiver) => toReceiver(receiver, brand)) };
  },
};

export const getReceiver: BrandHandler<"receivers.get"> = {
  async run({ receivers }, { call, brand }, { brand_id, receiver_id }) {
    const { receiver } = await receivers.getReceiver({ brand_id, receiver_id }, call);
    return { receiver: toReceiver(receiver, brand) };
  },
};

export const createReceiver: BrandHandler<"receivers.create"> = {
  audit: { action: "receiver.create", created: ({ receiver }) => receiver.id, fields: () => ["url", "label", "events"] },
  async run({ receivers }, { call, brand, person }, input) {
    const { receiver, secret } = await receivers.createReceiver({ ...input, acting_member: person.email }, call);
    return { receiver: toReceiver(receiver, brand), secret };
  },
};

export const updateReceiver: BrandHandler<"receivers.update"> = {
  audit: {
    action: "receiver.update",
    subject: ({ receiver_id }) => receiver_id,
    fields: ({ brand_id: _brand, receiver_id: _receiver, ...changes }) => Object.keys(changes),
  },
  async run({ receivers }, { call, brand, person }, { brand_id, receiver_id, url, label, events, max_in_flight }) {
    const request = {
      brand_id,
      receiver_id,
      url: url ?? null,
      label: label ?? null,
      events: events ?? [],
      max_in_flight: max_in_flight ?? null,
      acting_member: person.email,
    };
    const { receiver } = await receivers.updateReceiver(request, call);
    return { receiver: toReceiver(receiver, brand) };
  },
};

export const enableReceiver: BrandHandler<"receivers.enable"> = {
  audit: { action: "receiver.enable", subject: ({ receiver_id }) => receiver_id, fields: () => ["held"] },
  async run({ receivers }, { call, brand, person }, { brand_id, receiver_id, held }) {
    const { receiver, dropped } = await receivers.enableReceiver({ brand_id, receiver_id, held, acting_member: person.email }, call);
    if (receiver?.enabled === false) throw disabledMeanwhile();
    return { receiver: toReceiver(receiver, brand), dropped };
  },
};

export const disableReceiver: BrandHandler<"receivers.disable"> = {
  audit: { action: "receiver.disable", subject: ({ receiver_id }) => receiver_id },
  async run({ receivers }, { call, brand, person }, { brand_id, receiver_id }) {
    const { receiver } = await receivers.disableReceiver({ brand_id, receiver_id, acting_member: person.email }, call);
    return { receiver: toReceiver(receiver, brand) };
  },
};

export const deleteReceiver: BrandHandler<"receivers.delete"> = {
  audit: { action: "receiver.delete", subject: ({ receiver_id }) => receiver_id },
  run: ({ receivers }, { call, person }, { brand_id, receiver_id }) =>
    receivers.deleteReceiver({ brand_id, receiver_id, acting_member: person.email }, call),
};

export const rotateSecret: BrandHandler<"receivers.rotate"> = {
  audit: { action: "receiver.rotate_secret", subject: ({ receiver_id }) => receiver_id },
  async run({ receivers }, { call, brand, person }, { brand_id, receiver_id, replace }) {
    const { receiver, secret } = await receivers.rotateSecret({ brand_id, receiver_id, replace, acting_member: person.email }, call);
    return { receiver: toReceiver(receiver, brand), secret };
  },
};

export const activateSecret: BrandHandler<"receivers.activate"> = {
  audit: { action: "receiver.activate_secret", subject: ({ receiver_id }) => receiver_id },
  async run({ receivers }, { call, brand, person }, { brand_id, receiver_id, force }) {
    const { receiver } = await receivers.activateSecret({ brand_id, receiver_id, force, acting_member: person.email }, call);
    return { receiver: toReceiver(receiver, brand) };
  },
};

export const sendWaiting: BrandHandler<"receivers.send_waiting"> = {
  audit: { action: "receiver.send_waiting", subject: ({ receiver_id }) => receiver_id, fields: () => ["all"] },
  async run({ receivers }, { call, brand, person }, { brand_id, receiver_id, all }) {
    const sent = await receivers.sendWaiting({ brand_id, receiver_id, all, acting_member: person.email }, call);
    return { receiver: toReceiver(sent.receiver, brand), first: sent.first == null ? null : toDelivery(sent.first) };
  },
};

export const sendTest: BrandHandler<"receivers.test"> = {
  audit: { action: "receiver.test", subject: ({ receiver_id }) => receiver_id, fields: () => ["type"] },
  run: ({ receivers }, { call, person }, { brand_id, receiver_id, type, next }) =>
    receivers.sendTest({ brand_id, receiver_id, type, next, acting_member: person.email }, call),
};

const disabledMeanwhile = (): AppError =>
  new AppError("request_conflict", "The receiver was disabled again meanwhile, and stays so. What was dropped until then is gone.");

function toReceiver(message: ReceiverMessage | null | undefined, { role }: InBrand["brand"]): Receiver {
  if (message == null) throw new Error("webhook returned no receiver");
  return {
    ...message,
    // Path and query may be a token.
    url: role === "owner" ? message.url : new URL(message.url).origin,
    disabled_reason: message.disabled_reason ?? null,
    disabled_at: message.disabled_at ?? null,
    last_status: message.last_status ?? null,
    last_outcome: message.last_outcome ?? null,
    last_delivery_at: message.last_delivery_at ?? null,
    paused_until: message.paused_until ?? null,
    next_secret_at: message.next_secret_at ?? null,
    next_secret_accepted_at: message.next_secret_accepted_at ?? null,
  };
}
