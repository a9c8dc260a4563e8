import type { DeliveriesServiceService, Delivery as DeliveryMessage } from "@brand-records/proto/webhook/v1";
import type { Handlers } from "@brand-records/rpc";
import { check, nextAfterId } from "@brand-records/service";
import type { WebhookDependencies } from "../dependencies.ts";
import { leaseSecondsFor, leaseStart, requireDelivery, type Delivery, type DeliveryKey } from "../domain/delivery.ts";
import { receiverNotFound } from "../domain/receiver.ts";
import { requireReplay } from "../domain/replay.ts";
import { attemptsOf, findDelivery, pageOfDeliveries } from "../storage/deliveries.ts";
import { laneStatus } from "../storage/lanes.ts";
import { findReplay } from "../storage/replays.ts";
import { replayDelivery } from "../use-cases/replay-delivery.ts";
import { replayEvents } from "../use-cases/replay-events.ts";
import { fields } from "./fields.ts";

export type DeliveriesDependencies = Pick<WebhookDependencies, "db" | "replaying" | "deadlineMs">;

export function deliveriesHandlers({ db, replaying, deadlineMs }: DeliveriesDependencies): Handlers<DeliveriesServiceService> {
  return {
    async listDeliveries(request) {
      const { brand_id, receiver_id, state, page_size, after_id } = check(listFields, request);
      const lane = await laneStatus(db, { brandId: brand_id, receiverId: receiver_id });
      if (lane === undefined) throw receiverNotFound();
      const { held, ...pause } = lane;
      // All unsent deliveries of a receiver are pending, or all are held.
      if (state === (held ? "pending" : "held")) return { deliveries: [], next_after_id: null, ...pause };
      const page = { receiverId: receiver_id, state: state ?? null, afterId: after_id ?? null, limit: page_size };
      const deliveries = await pageOfDeliveries(db, page);
      return {
        deliveries: deliveries.map((delivery) => deliveryMessage(delivery, deadlineMs)),
        next_after_id: nextAfterId(deliveries, page_size),
        ...pause,
      };
    },
    async getDelivery(request) {
      const key = deliveryIn(request);
      const delivery = requireDelivery(await findDelivery(db, key));
      const attempts = await attemptsOf(db, key.deliveryId);
      const lane = await laneStatus(db, { brandId: key.brandId, receiverId: delivery.receiver_id });
      // Without a lane the receiver was deleted.
      const { paused_until = null, failures_in_a_row = 0 } = lane ?? {};
      return { delivery: deliveryMessage(delivery, deadlineMs), attempts, paused_until, failures_in_a_row };
    },
    async replayDelivery(request) {
      return { delivery: deliveryMessage(await replayDelivery(db, deliveryIn(request)), deadlineMs) };
    },
    async replayEvents(request) {
      const { brand_id, receiver_id, since } = check(
        { brand_id: fields.brandId, receiver_id: fields.receiverId, since: fields.since },
        request,
      );
      const replay = await replayEvents(db, { brandId: brand_id, receiverId: receiver_id }, since);
      replaying?.wake();
      return { replay };
    },
    async getReplay(request) {
      const { brand_id, replay_id } = check({ brand_id: fields.brandId, replay_id: fields.replayId }, request);
      return { replay: requireReplay(await findReplay(db, { brandId: brand_id, replayId: replay_id })) };
    },
  };
}

function deliveryMessage({ lease_until, ...delivery }: Delivery, deadlineMs: number): DeliveryMessage {
  if (lease_until === null) return delivery;
  return { ...delivery, sending_since: leaseStart(lease_until, leaseSecondsFor(deadlineMs)), deadline_ms: deadlineMs };
}

const listFields = {
  brand_id: fields.brandId,
  receiver_id: fields.receiverId,
  state: fields.state.nullish(),
  page_size: fields.pageSize,
  after_id: fields.deliveryId.nullish(),
};

function deliveryIn(request: object): DeliveryKey {
  const { brand_id, delivery_id } = check({ brand_id: fields.brandId, delivery_id: fields.deliveryId }, request);
  return { brandId: brand_id, deliveryId: delivery_id };
}
