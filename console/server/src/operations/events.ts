import type { Output } from "@brand-records/console-contract";
import type { Event } from "@brand-records/proto/webhook/v1";
import type { BrandHandler } from "./operation.ts";
import { toDelivery } from "./deliveries.ts";

const PAGE_SIZE = 50;

export const listEvents: BrandHandler<"events.list"> = {
  async run(services, { call }, { brand_id, type, from, to, record_id, page_token }) {
    const filters = { type: type ?? null, from: from ?? null, to: to ?? null, record_id: record_id ?? null };
    const request = { brand_id, ...filters, page_size: PAGE_SIZE, after_id: null, page_token: page_token ?? null, count_receivers: true };
    const { events, next_page_token } = await services.events.listEvents(request, call);
    return { events: events.map(toListedEvent), next_page_token: next_page_token ?? null };
  },
};

const toListedEvent = ({ receivers, receivers_accepted, ...event }: Event): Output<"events.list">["events"][number] => ({
  ...event,
  receivers: receivers ?? null,
  receivers_accepted: receivers_accepted ?? null,
});

export const getEvent: BrandHandler<"events.get"> = {
  async run(services, { call }, { brand_id, event_id }) {
    const { event, body, receivers, has_more_deliveries } = await services.events.getEvent({ brand_id, event_id }, call);
    if (event == null) throw new Error("getEvent returned no event");
    return {
      event,
      body: body.toString("utf8"),
      receivers: receivers.map(({ receiver_id, label, host, paused_until, deliveries }) => ({
        receiver_id,
        label: label ?? null,
        host: host ?? null,
        paused_until: paused_until ?? null,
        deliveries: deliveries.map(toDelivery),
      })),
      has_more_deliveries,
    };
  },
};
