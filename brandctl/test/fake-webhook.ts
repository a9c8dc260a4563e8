import { AppError } from "@brand-records/errors";
import {
  DeliveriesServiceService,
  EventsServiceService,
  OperatorServiceService,
  ReceiversServiceService,
  type Attempt,
  type DeadLetter,
  type Delivery,
  type Event,
  type ListEventsRequest,
  type Receiver,
  type Replay,
  type TrimLogResponse,
} from "@brand-records/proto/webhook/v1";
import { service, type ServedService } from "@brand-records/rpc";
import { FakeData } from "./fake-data.ts";

export const SECRET = `whsec_${"x".repeat(43)}=`;
export const NEXT_SECRET = `whsec_${"y".repeat(43)}=`;
/** The body of every delivery. */
export const BODY = '{"id":"evt_1","data":{"title":"Biñan"}}';
const NOW = "2026-11-21T08:40:00.000Z";
export const KEPT_UNTIL = "2026-11-28T08:40:00.000Z";

/** Receivers, deliveries, events and dead letters in memory: what brandctl needs. */
export class FakeWebhook {
  readonly data = new FakeData();
  /** Without Kafka the log stores nothing. */
  hasLog = true;
  isLogDown = false;
  /** Calls that removed messages from the log. */
  trims = 0;
  /** The log refuses to remove dead letters. */
  isLogProtected = false;
  /** How the log responds when messages are to be removed; undefined: it removes them. */
  trimmed: Partial<TrimLogResponse> | undefined;
  readonly receivers: Receiver[] = [];
  /** Newest first. */
  readonly events: Event[] = [];
  readonly deadLetters: DeadLetter[] = [];
  /** Newest first. */
  readonly deliveries: Delivery[] = [];
  /** The attempts of every delivery. */
  readonly attempts: Attempt[] = [];
  readonly replays: Replay[] = [];
  /** Events that a replay queues between two reads of its progress. */
  replayStep = 1;
  /** Called with each read of a replay's progress. */
  onProgressRead: () => void = () => {};
  /** Whether receivers on this machine are accepted. */
  loopback = false;
  /** Whether somebody disables a receiver again before it is enabled. */
  disabledMeanwhile = false;
  /** What a rotation by somebody else leaves in a receiver just before each call of RotateSecret. */
  rotatedMeanwhile: Partial<Receiver> = {};
  /** Another command is replaying the dead letters. */
  deadLettersTaken = false;
  /** Deadline of the last replay of dead letters, in milliseconds from its start. */
  replayDeadMs: number | undefined;
  /** Requests for lists of events. */
  readonly requests: ListEventsRequest[] = [];

  readonly served: readonly ServedService[] = [
    service(ReceiversServiceService, {
      createReceiver: async ({ brand_id, url, label, events }) => {
        if (!this.loopback) requirePublic(url);
        if (this.receivers.some((one) => one.brand_id === brand_id && one.url === url)) {
          throw new AppError("duplicate_url", "Another receiver of the brand has this URL.", { field: "url" });
        }
        if (this.receivers.length >= 20) throw new AppError("receiver_limit", "The brand has 20 receivers, which is as many as it may.");
        const receiver = receiverOf({ id: `rcv_made${this.receivers.length}`, brand_id, url: new URL(url).href, label, events });
        this.receivers.push(receiver);
        return { receiver, secret: SECRET };
      },
      getReceiver: async ({ brand_id, receiver_id }) => ({ receiver: this.#find(brand_id, receiver_id) }),
      listReceivers: async ({ brand_id }) => ({ receivers: this.receivers.filter((one) => one.brand_id === brand_id) }),
      updateReceiver: async ({ brand_id, receiver_id, url, label, events, max_in_flight }) => {
        const receiver = this.#find(brand_id, receiver_id);
        if (url != null) requirePublic(url);
        if (max_in_flight != null) Object.assign(receiver, { max_in_flight });
        Object.assign(receiver, {
          ...(url != null && { url: new URL(url).href }),
          ...(label != null && { label }),
          ...(events.length > 0 && { events }),
        });
        return { receiver };
      },
      enableReceiver: async ({ brand_id, receiver_id, held }) => {
        const receiver = this.#find(brand_id, receiver_id);
        const dropped = !receiver.enabled && held === "drop" ? receiver.waiting : 0;
        if (!this.disabledMeanwhile) Object.assign(receiver, { enabled: true, disabled_reason: null, disabled_at: null });
        Object.assign(receiver, { waiting: receiver.waiting - dropped });
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
      rotateSecret: async ({ brand_id, receiver_id, replace }) => {
        const { rotating } = Object.assign(this.#find(brand_id, receiver_id), this.rotatedMeanwhile);
        if (rotating && replace === false) throw new AppError("request_conflict", "There is a next secret already");
        const rotation = { rotating: true, next_secret_at: NOW, next_secret_accepted_at: null };
        const receiver = Object.assign(this.#find(brand_id, receiver_id), rotation);
        return { receiver, secret: NEXT_SECRET };
      },
      activateSecret: async ({ brand_id, receiver_id, force }) => {
        const receiver = this.#find(brand_id, receiver_id);
        if (!receiver.rotating) throw new AppError("no_next_secret", "There is no next secret");
        if (receiver.next_secret_accepted_at == null && !force) throw new AppError("next_secret_not_accepted", "No test was accepted");
        return { receiver: Object.assign(receiver, { rotating: false, next_secret_at: null, next_secret_accepted_at: null }) };
      },
      sendWaiting: unused,
      sendTest: async ({ brand_id, receiver_id, type, next }) => {
        const receiver = this.#find(brand_id, receiver_id);
        if (!receiver.enabled) throw new AppError("receiver_disabled", "The receiver is disabled");
        if (next && !receiver.rotating) throw new AppError("no_next_secret", "There is no next secret");
        const event_type = type ?? receiver.events[0] ?? "";
        const delivery = deliveryOf({ id: "dlv_test", receiver_id, event_type, test: true, sign_with_next: next });
        this.deliveries.unshift(delivery);
        return { delivery_id: delivery.id, event_id: delivery.event_id };
      },
    }),
    service(DeliveriesServiceService, {
      listDeliveries: async (request) => {
        const { brand_id, receiver_id, event_id, record_id, status_class, states, type, from, to, page_size, after_id } = request;
        if (receiver_id !== "") this.#find(brand_id, receiver_id);
        const start = after_id == null ? 0 : this.deliveries.findIndex(({ id }) => id === after_id) + 1;
        const matches = (one: Delivery): boolean =>
          (receiver_id === "" || one.receiver_id === receiver_id) &&
          (event_id == null || one.event_id === event_id) &&
          (record_id == null || one.record_id === record_id) &&
          (status_class == null || one.last_http_status?.toString()[0] === status_class[0]) &&
          (states.length === 0 || states.includes(one.state)) &&
          (type == null || one.event_type === type) &&
          (from == null || one.created_at >= from) &&
          (to == null || one.created_at < to);
        const deliveries = this.deliveries.slice(start).filter(matches).slice(0, page_size);
        const next_after_id = deliveries.length === page_size ? (deliveries.at(-1)?.id ?? null) : null;
        return { deliveries, next_after_id, ...this.#pauseOf(receiver_id) };
      },
      getDelivery: async ({ brand_id, delivery_id }) => {
        const delivery = this.#delivery(brand_id, delivery_id);
        return {
          delivery,
          attempts: this.attempts,
          body: Buffer.from(BODY),
          original: null,
          repeats: [],
          ...this.#pauseOf(delivery.receiver_id),
        };
      },
      replayDelivery: async ({ brand_id, delivery_id }) => {
        const delivery = this.#delivery(brand_id, delivery_id);
        if (delivery.finished_at == null) return { delivery };
        const made = deliveryOf({ ...delivery, id: `${delivery.id}again`, state: "pending", attempts: 0, due_at: NOW, finished_at: null });
        this.deliveries.unshift(made);
        return { delivery: made };
      },
      replayEvents: async ({ brand_id, receiver_id, since, until, failed_only }) => {
        this.#find(brand_id, receiver_id);
        const running = this.replays.find((one) => one.receiver_id === receiver_id && one.finished_at == null);
        if (running?.since === since) return { replay: running };
        if (running !== undefined) throw new AppError("request_conflict", "A replay is in progress", { field: "since" });
        const replay: Replay = {
          id: `rpl_${this.replays.length}`,
          receiver_id,
          since,
          until: until ?? NOW,
          queued: 0,
          total: 3,
          finished_at: null,
          failed_only,
          started_at: NOW,
        };
        this.replays.push(replay);
        return { replay };
      },
      getReplay: async ({ replay_id }) => {
        this.onProgressRead();
        const replay = this.replays.find(({ id }) => id === replay_id);
        if (replay === undefined) throw new AppError("not_found", "There is no replay with this id", { field: "replay_id" });
        replay.queued = Math.min(replay.total, replay.queued + this.replayStep);
        if (replay.queued === replay.total) replay.finished_at = NOW;
        return { replay };
      },
      getDeliveryStats: unused,
      countReplay: unused,
      getLatestReplay: async ({ receiver_id }) => ({ replay: this.replays.findLast((one) => one.receiver_id === receiver_id) ?? null }),
      cancelReplay: unused,
    }),
    service(EventsServiceService, {
      getEvent: unused,
      listEvents: async (request) => {
        this.requests.push(request);
        const { brand_id, type, page_size, after_id } = request;
        const from = after_id == null ? 0 : this.events.findIndex(({ id }) => id === after_id) + 1;
        const events = this.events
          .slice(from)
          .filter((event) => event.brand_id === brand_id && (type == null || event.type === type))
          .slice(0, page_size);
        return { events, next_after_id: events.length === page_size ? (events.at(-1)?.id ?? null) : null };
      },
      listDeadLetters: async ({ page_size }) => ({ dead_letters: this.deadLetters.slice(0, page_size), total: this.deadLetters.length }),
      replayDeadLetters: async (_, { deadline }) => {
        this.replayDeadMs = deadline - Date.now();
        if (this.deadLettersTaken) throw new AppError("request_conflict", "The dead letters are being replayed already");
        return { replayed: this.deadLetters.splice(0).length };
      },
    }),
    service(OperatorServiceService, {
      findBrand: async ({ id }) => {
        const of =
          this.deliveries.find((delivery) => delivery.id === id || delivery.event_id === id) ?? this.replays.find((one) => one.id === id);
        const receiverId = of?.receiver_id ?? id;
        const receiver = this.receivers.find((one) => one.id === receiverId);
        if (receiver === undefined) throw new AppError("not_found", "There is nothing with this id", { field: "id" });
        return { brand_id: receiver.brand_id };
      },
      deleteBrandData: this.data.deleteBrandData,
      removeDeadLetters: async () => {
        if (this.deadLettersTaken) throw new AppError("request_conflict", "The dead letters are already being replayed.");
        if (this.isLogDown) throw new AppError("unavailable", "Kafka is unavailable");
        if (this.isLogProtected) throw new AppError("permission_required", "brand.events.dead: TOPIC_AUTHORIZATION_FAILED");
        return { removed: this.deadLetters.splice(0).length };
      },
      trimLog: async ({ up_to }) => {
        if (this.isLogDown) throw new AppError("unavailable", "Kafka is unavailable");
        if (!this.hasLog) return { up_to: [], done: true, behind: [] };
        if (up_to.length === 0) return { up_to: [{ partition: 0, offset: 5 }], done: false, behind: [], kept_until: KEPT_UNTIL };
        this.trims += 1;
        return { up_to, done: true, behind: [], ...this.trimmed };
      },
    }),
  ];

  #pauseOf(receiverId: string): Pick<Receiver, "paused_until" | "failures_in_a_row"> {
    const { paused_until, failures_in_a_row = 0 } = this.receivers.find(({ id }) => id === receiverId) ?? {};
    return { paused_until, failures_in_a_row };
  }

  #delivery(brandId: string, id: string): Delivery {
    const delivery = this.deliveries.find((one) => one.id === id);
    const receiver = this.receivers.find((one) => one.brand_id === brandId && one.id === delivery?.receiver_id);
    if (delivery === undefined || receiver === undefined) {
      throw new AppError("not_found", "There is no delivery with this id", { field: "delivery_id" });
    }
    return delivery;
  }

  #find(brandId: string, id: string): Receiver {
    const receiver = this.receivers.find((one) => one.brand_id === brandId && one.id === id);
    if (receiver === undefined) throw new AppError("not_found", "There is no receiver with this id", { field: "receiver_id" });
    return receiver;
  }
}

/** brandctl does not call it. */
const unused = (): Promise<never> => Promise.reject(new AppError("internal_error", "brandctl does not call this"));

function requirePublic(url: string): void {
  if (url.startsWith("http:")) throw new AppError("not_https", "url must begin with https://", { field: "url" });
  if (url.includes("localhost")) throw new AppError("private_address", "url must name a public host", { field: "url" });
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
    waiting_due: 0,
    in_flight: 0,
    max_in_flight: 64,
    rotating: false,
    next_secret_at: null,
    next_secret_accepted_at: null,
    last_outcome: null,
    paused_until: null,
    failures_in_a_row: 0,
    created_at: "2026-11-21T08:30:00.000Z",
    updated_at: "2026-11-21T08:30:00.000Z",
    ...given,
  };
}

export function deliveryOf(given: Partial<Delivery> = {}): Delivery {
  return {
    id: "dlv_1",
    receiver_id: "rcv_1",
    event_id: "evt_1",
    event_type: "payout.paid",
    state: "pending",
    attempts: 0,
    test: false,
    created_at: "2026-11-21T08:30:00.000Z",
    due_at: null,
    finished_at: null,
    sign_with_next: false,
    last_outcome: null,
    last_http_status: null,
    sending_since: null,
    deadline_ms: null,
    ...given,
  };
}

export function attemptOf(given: Partial<Attempt> = {}): Attempt {
  return {
    id: "att_1",
    attempt: 1,
    started_at: "2026-11-21T08:30:01.000Z",
    duration_ms: 1_250,
    outcome: "refused",
    http_status: 500,
    error: "status 500",
    response: Buffer.from("no"),
    request_headers: [],
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
    test: false,
    ...given,
  };
}
