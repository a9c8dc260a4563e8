import type { Attempt, Delivery, Output } from "@brand-records/console-contract";
import type { Attempt as AttemptMessage, AttemptStats, Delivery as DeliveryMessage } from "@brand-records/proto/webhook/v1";
import type { BrandHandler } from "./operation.ts";

const PAGE_SIZE = 50;

export const listDeliveries: BrandHandler<"deliveries.list"> = {
  async run(services, { call }, { brand_id, receiver_id, states = [], after_id, ...filters }) {
    const request = { brand_id, receiver_id, states, ...filters, state: null, page_size: PAGE_SIZE, after_id: after_id ?? null };
    const { deliveries, next_after_id, paused_until, failures_in_a_row } = await services.deliveries.listDeliveries(request, call);
    return {
      deliveries: deliveries.map(toDelivery),
      next_after_id: next_after_id ?? null,
      paused_until: paused_until ?? null,
      failures_in_a_row,
    };
  },
};

export const getDelivery: BrandHandler<"deliveries.get"> = {
  async run(services, { call }, { brand_id, delivery_id }) {
    const response = await services.deliveries.getDelivery({ brand_id, delivery_id }, call);
    const { delivery, attempts, paused_until, failures_in_a_row, body, original, repeats } = response;
    return {
      delivery: toDelivery(delivery),
      attempts: attempts.map(toAttempt),
      body: body?.toString("utf8") ?? null,
      original,
      repeats,
      paused_until: paused_until ?? null,
      failures_in_a_row,
    };
  },
};

export const deliveryStats: BrandHandler<"deliveries.stats"> = {
  async run(services, { call }, input) {
    const { hours, total, counted_since } = await services.deliveries.getDeliveryStats(input, call);
    return { hours: hours.map(({ hour, stats }) => ({ hour, stats: toStats(stats) })), total: toStats(total), counted_since };
  },
};

export const replayDelivery: BrandHandler<"deliveries.replay"> = {
  audit: { action: "delivery.replay", subject: ({ delivery_id }) => delivery_id },
  async run(services, { call, person }, { brand_id, delivery_id, pending_only }) {
    const request = { brand_id, delivery_id, acting_member: person.email, pending_only: pending_only ?? null };
    const { delivery } = await services.deliveries.replayDelivery(request, call);
    return { delivery: toDelivery(delivery) };
  },
};

export function toDelivery(message: DeliveryMessage | null | undefined): Delivery {
  if (message == null) throw new Error("webhook returned no delivery");
  return {
    ...message,
    state: message.state as Delivery["state"],
    due_at: message.due_at ?? null,
    finished_at: message.finished_at ?? null,
    last_outcome: message.last_outcome ?? null,
    last_http_status: message.last_http_status ?? null,
    last_duration_ms: message.last_duration_ms ?? null,
    record_id: message.record_id ?? null,
    repeat_of: message.repeat_of ?? null,
    replay_id: message.replay_id ?? null,
    sending_since: message.sending_since ?? null,
  };
}

const toAttempt = (message: AttemptMessage): Attempt => ({
  ...message,
  http_status: message.http_status ?? null,
  error: message.error ?? null,
  response: message.response.toString("utf8"),
});

function toStats(stats: AttemptStats | null | undefined): Output<"deliveries.stats">["total"] {
  const { accepted = 0, failed = 0, p50_ms, p95_ms } = stats ?? {};
  return { accepted, failed, p50_ms: p50_ms ?? null, p95_ms: p95_ms ?? null };
}
