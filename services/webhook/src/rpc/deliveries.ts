import { AppError, parseRequest } from "@brand-records/errors";
import type { DeliveriesServiceService, ListDeliveriesRequest } from "@brand-records/proto/webhook/v1";
import type { Handlers } from "@brand-records/rpc";
import { z } from "zod";
import type { WebhookDependencies } from "../dependencies.ts";
import { DELIVERY_STATES, statesWith, type DeliveryKey } from "../domain/delivery.ts";
import { getDelivery, getDeliveryStats, listDeliveries, type DeliveryList } from "../use-cases/read-deliveries.ts";
import { replayDelivery } from "../use-cases/replay-delivery.ts";
import { attemptMessage, bodyOf, deliveryMessage } from "./delivery-message.ts";
import { fields, timeRange } from "./fields.ts";
import type { ReplayKey, ReplayRequest } from "../domain/replay.ts";
import { cancelReplay, getLatestReplay, getReplay, previewReplay, replayEvents } from "../use-cases/replay-events.ts";

export type DeliveriesDependencies = Pick<WebhookDependencies, "db" | "audit" | "replaying" | "deadlineMs" | "publicUrl" | "headerWord">;

const HOUR_MS = 3_600_000;
const STATS_HOURS_MAX = 30 * 24;

export function deliveriesHandlers(deps: DeliveriesDependencies): Handlers<DeliveriesServiceService> {
  const { db, audit, deadlineMs } = deps;
  return {
    ...replayHandlers(deps),
    async listDeliveries(request) {
      const list = listed(request);
      const { deliveries, next, pause } = await listDeliveries(db, list);
      return {
        deliveries: deliveries.map((delivery) => deliveryMessage(delivery, deadlineMs)),
        next_after_id: next,
        ...pause,
      };
    },
    async getDelivery(request) {
      const { delivery, attempts, event, pause, original, repeats } = await getDelivery(db, deliveryIn(request));
      return {
        delivery: deliveryMessage(delivery, deadlineMs),
        attempts: attempts.map((attempt) => attemptMessage(attempt, event, deps)),
        ...pause,
        original: original ?? null,
        repeats: repeats.map(({ id, created_at }) => ({ id, created_at })),
        body: event === undefined ? null : bodyOf(event, deps),
      };
    },
    async getDeliveryStats(request) {
      const { brand_id, receiver_id, from, to } = parseRequest(
        { brand_id: fields.brandId, receiver_id: fields.receiverId, from: fields.time, to: fields.time },
        request,
      );
      const [first, end] = [Math.floor(Date.parse(from) / HOUR_MS), Math.ceil(Date.parse(to) / HOUR_MS)];
      if (end <= first) throw new AppError("invalid_request", "to must be after from", { field: "to" });
      // A range that begins within an hour ends in the 721st.
      if (Date.parse(to) - Date.parse(from) > STATS_HOURS_MAX * HOUR_MS)
        throw new AppError("invalid_request", "to must be at most 30 days after from", { field: "to" });
      const startOf = (hour: number): string => new Date(hour * HOUR_MS).toISOString();
      return getDeliveryStats(db, { brandId: brand_id, receiverId: receiver_id }, startOf(first), startOf(end));
    },
    async replayDelivery(request, call) {
      const delivery = await replayDelivery(db, deliveryIn(request), audit.record(call), request.pending_only ?? false);
      return { delivery: deliveryMessage(delivery, deadlineMs) };
    },
  };
}

const listFields = {
  brand_id: fields.brandId,
  receiver_id: fields.receiverId.or(z.literal("")),
  event_id: fields.eventId.nullish(),
  record_id: fields.recordId.nullish(),
  status_class: fields.statusClass.nullish(),
  state: fields.state.nullish(),
  states: z.array(fields.state),
  type: fields.type.nullish(),
  from: fields.time.nullish(),
  to: fields.time.nullish(),
  page_size: fields.pageSize,
  after_id: fields.deliveryId.nullish(),
};

function listed(request: ListDeliveriesRequest): DeliveryList {
  const { brand_id, receiver_id, event_id, record_id, state, states, type, from, to, status_class, page_size, after_id } = parseRequest(
    listFields,
    request,
  );
  if (receiver_id === "" && event_id == null && record_id == null) {
    throw new AppError("invalid_request", "receiver_id is missing: name a receiver, an event or a record", { field: "receiver_id" });
  }
  const named = new Set([...states, ...(state == null ? [] : [state])]);
  return {
    brandId: brand_id,
    receiverId: receiver_id === "" ? null : receiver_id,
    eventId: event_id ?? null,
    recordId: record_id ?? null,
    statusClass: status_class ?? null,
    states: statesWith(
      status_class ?? null,
      DELIVERY_STATES.filter((one) => named.size === 0 || named.has(one)),
    ),
    type: type ?? null,
    ...timeRange(from, to),
    afterId: after_id ?? null,
    limit: page_size,
  };
}

function deliveryIn(request: object): DeliveryKey {
  const { brand_id, delivery_id } = parseRequest({ brand_id: fields.brandId, delivery_id: fields.deliveryId }, request);
  return { brandId: brand_id, deliveryId: delivery_id };
}

type ReplayMethods = "replayEvents" | "getReplay" | "countReplay" | "getLatestReplay" | "cancelReplay";

function replayHandlers({
  db,
  audit,
  replaying,
}: Pick<WebhookDependencies, "db" | "audit" | "replaying">): Pick<Handlers<DeliveriesServiceService>, ReplayMethods> {
  return {
    async replayEvents(request, call) {
      const replay = await replayEvents(db, replayRequest(request), audit.record(call));
      replaying?.wake();
      return { replay };
    },
    async countReplay(request) {
      return { events: await previewReplay(db, replayRequest(request)) };
    },
    async getReplay(request) {
      return { replay: await getReplay(db, replayIn(request)) };
    },
    async getLatestReplay(request) {
      const { brand_id, receiver_id } = parseRequest({ brand_id: fields.brandId, receiver_id: fields.receiverId }, request);
      const replay = await getLatestReplay(db, { brandId: brand_id, receiverId: receiver_id });
      return { replay: replay ?? null };
    },
    async cancelReplay(request, call) {
      return { replay: await cancelReplay(db, replayIn(request), audit.record(call)) };
    },
  };
}

const replayFields = {
  brand_id: fields.brandId,
  receiver_id: fields.receiverId,
  since: fields.time,
  until: fields.time.nullish(),
  failed_only: z.boolean(),
};

function replayRequest(request: object): ReplayRequest {
  const { brand_id, receiver_id, since, until, failed_only } = parseRequest(replayFields, request);
  return { brandId: brand_id, receiverId: receiver_id, since, until: until ?? null, failedOnly: failed_only };
}

function replayIn(request: object): ReplayKey {
  const { brand_id, replay_id } = parseRequest({ brand_id: fields.brandId, replay_id: fields.replayId }, request);
  return { brandId: brand_id, replayId: replay_id };
}
