import { AppError } from "@brand-records/errors";
import {
  EventsServiceService,
  ReceiversServiceService,
  type DeadLetter,
  type Event,
  type ListEventsRequest,
  type Receiver,
} from "@brand-records/proto/webhook/v1";
import { service, type ServedService } from "@brand-records/rpc";

export const SECRET = `whsec_${"x".repeat(43)}=`;
const NOW = "2026-11-21T08:40:00.000Z";

/** Receivers, events and dead letters in memory, as far as brandctl can tell the difference. */
export class FakeWebhook {
  readonly receivers: Receiver[] = [];
  /** Newest first. */
  readonly events: Event[] = [];
  readonly deadLetters: DeadLetter[] = [];
  /** What lists of events were asked for. */
  readonly asked: ListEventsRequest[] = [];

  readonly served: readonly ServedService[] = [
    service(ReceiversServiceService, {
      createReceiver: async ({ brand_id, url, label, events }) => {
        requirePublic(url);
        if (this.receivers.some((one) => one.brand_id === brand_id && one.url === url)) {
          throw new AppError("duplicate_url", "Another receiver of the brand has this URL.", { field: "url" });
        }
        if (this.receivers.length >= 20) throw new AppError("receiver_limit", "The brand has 20 receivers, which is as many as it may.");
        const receiver = receiverOf({ id: `rcv_made${this.receivers.length}`, brand_id, url, label, events });
        this.receivers.push(receiver);
        return { receiver, secret: SECRET };
      },
      getReceiver: async ({ brand_id, receiver_id }) => ({ receiver: this.#find(brand_id, receiver_id) }),
      listReceivers: async ({ brand_id }) => ({ receivers: this.receivers.filter((one) => one.brand_id === brand_id) }),
      updateReceiver: async ({ brand_id, receiver_id, url, label, events }) => {
        const receiver = this.#find(brand_id, receiver_id);
        if (url != null) requirePublic(url);
        Object.assign(receiver, { ...(url != null && { url }), ...(label != null && { label }), ...(events.length > 0 && { events }) });
        return { receiver };
      },
      enableReceiver: async ({ brand_id, receiver_id, held }) => {
        const receiver = this.#find(brand_id, receiver_id);
        const dropped = !receiver.enabled && held === "drop" ? receiver.waiting : 0;
        Object.assign(receiver, { enabled: true, disabled_reason: null, disabled_at: null, waiting: receiver.waiting - dropped });
        return { receiver, dropped };
      },
      disableReceiver: async ({ brand_id, receiver_id }) => {
        const receiver = this.#find(brand_id, receiver_id);
        if (receiver.enabled) Object.assign(receiver, { enabled: false, disabled_reason: "member", disabled_at: NOW });
        return { receiver };
      },
      deleteReceiver: async ({ brand_id, receiver_id }) => {
        const receiver = this.#find(brand_id, receiver_id);
        this.receivers.splice(this.receivers.indexOf(receiver), 1);
        return { dropped: receiver.waiting };
      },
    }),
    service(EventsServiceService, {
      listEvents: async (request) => {
        this.asked.push(request);
        const { brand_id, type, page_size, after_id } = request;
        const from = after_id == null ? 0 : this.events.findIndex(({ id }) => id === after_id) + 1;
        const events = this.events
          .slice(from)
          .filter((event) => event.brand_id === brand_id && (type == null || event.type === type))
          .slice(0, page_size);
        return { events, next_after_id: events.length === page_size ? (events.at(-1)?.id ?? null) : null };
      },
      listDeadLetters: async ({ page_size }) => ({ dead_letters: this.deadLetters.slice(0, page_size), total: this.deadLetters.length }),
      replayDeadLetters: async () => ({ replayed: this.deadLetters.splice(0).length }),
    }),
  ];

  #find(brandId: string, id: string): Receiver {
    const receiver = this.receivers.find((one) => one.brand_id === brandId && one.id === id);
    if (receiver === undefined) throw new AppError("not_found", "There is no receiver of this id", { field: "receiver_id" });
    return receiver;
  }
}

function requirePublic(url: string): void {
  if (url.startsWith("http:")) throw new AppError("not_https", "url has to begin with https://", { field: "url" });
  if (url.includes("localhost")) throw new AppError("private_address", "url has to name a public host", { field: "url" });
  if (url.includes("slack")) throw new AppError("chat_webhook", "url is a team chat's incoming webhook", { field: "url" });
}

export function receiverOf(given: Partial<Receiver> = {}): Receiver {
  return {
    id: "rcv_1",
    brand_id: "brd_1",
    url: "https://hooks.ulap.example/events?token=tok3n",
    label: "Ledger",
    events: ["payout.paid"],
    enabled: true,
    disabled_reason: null,
    disabled_at: null,
    last_status: null,
    last_delivery_at: null,
    failures: 0,
    waiting: 0,
    created_at: "2026-11-21T08:30:00.000Z",
    updated_at: "2026-11-21T08:30:00.000Z",
    ...given,
  };
}

export function eventOf(given: Partial<Event> = {}): Event {
  return {
    id: "evt_1",
    brand_id: "brd_1",
    type: "payout.paid",
    created_at: "2026-11-21T08:30:00.000Z",
    data_json: '{"resource":"payouts","id":"po_1"}',
    received_at: "2026-11-21T08:30:01.000Z",
    ...given,
  };
}
