import { EVENT_TYPE_NAMES } from "@brand-records/brand-events";
import { openPool, type Database } from "@brand-records/postgres";
import { newId } from "@brand-records/typeid";
import type { Arrival, FakeReceivers } from "./fake-receivers.ts";
import { callContext, type Stack } from "./stack.ts";

/** Statuses a record can take in turn for ever, each of them an event. */
const REVIEWS = ["approved", "rejected"] as const;

export interface LedgerOptions {
  readonly brands: number;
  readonly recordsPerBrand: number;
  /** Each of them selects everything. */
  readonly receiversPerBrand: number;
  /** A second, over all writers. */
  readonly changesPerSecond: number;
}

interface Change {
  readonly brand: string;
  readonly record: string;
  readonly type: string;
}

interface StoredEvent {
  readonly id: string;
  readonly record: string;
  readonly type: string;
  readonly brand: string;
}

interface Receiver {
  readonly id: string;
  readonly brand: string;
  /** Its number on the farm. */
  readonly number: number;
  /** One attempt at a time: first attempts must be in order, for each record. */
  readonly ordered: boolean;
}

/**
 * A platform that writes down every change it commits, so that afterwards each can be asked for: was there an event, did it
 * reach every receiver that selected it, and was there nothing else?
 */
export class Ledger {
  readonly #db: Database;
  readonly #options: LedgerOptions;
  readonly #changes: Change[] = [];
  readonly #receivers: Receiver[] = [];
  readonly #records: { brand: string; id: string; table: "submissions" | "payouts" | "campaigns"; turn: number }[] = [];

  readonly #fakes: FakeReceivers;

  constructor(stack: Stack, fakes: FakeReceivers, options: LedgerOptions) {
    this.#fakes = fakes;
    this.#db = openPool({ url: stack.databaseUrl, applicationName: "platform", max: 5 });
    this.#options = options;
  }

  get changes(): number {
    return this.#changes.length;
  }

  get db(): Database {
    return this.#db;
  }

  /** Brands, receivers, and records whose statuses can change. Every second receiver takes one attempt at a time. */
  async prepare(stack: Stack): Promise<void> {
    for (let index = 0; index < this.#options.brands; index += 1) {
      const { id: brand } = await stack.createBrand();
      for (let receiver = 0; receiver < this.#options.receiversPerBrand; receiver += 1) await this.#register(stack, brand);
      await this.#insertRecords(brand);
    }
  }

  async #register(stack: Stack, brand_id: string): Promise<void> {
    const number = this.#receivers.length;
    const ordered = number % 2 === 0;
    const request = { brand_id, url: this.#fakes.urlOf(number), label: `Receiver ${number}`, events: [...EVENT_TYPE_NAMES] };
    const { receiver } = await stack.receivers.createReceiver(request, callContext());
    const id = receiver?.id ?? "";
    if (ordered) await stack.receivers.updateReceiver({ brand_id, receiver_id: id, events: [], max_in_flight: 1 }, callContext());
    this.#receivers.push({ id, brand: brand_id, number, ordered });
  }

  /** Nine in ten are submissions, which may change again and again; payouts are paid and campaigns settled once. */
  async #insertRecords(brand: string): Promise<void> {
    const at = new Date().toISOString();
    for (let index = 0; index < this.#options.recordsPerBrand; index += 1) {
      const table = index % 20 === 0 ? "campaigns" : index % 20 === 1 ? "payouts" : "submissions";
      const id = newId({ campaigns: "cmp", payouts: "po", submissions: "sub" }[table]);
      this.#records.push({ brand, id, table, turn: 0 });
      await this.#db.query(INSERTS[table], [brand, id, at]);
    }
  }

  /** Changes statuses until there are so many changes; pauses keep to the pace. Errors of the database are errors. */
  async write(upTo: number): Promise<void> {
    const startedAt = performance.now();
    const from = this.#changes.length;
    const writer = async (): Promise<void> => {
      while (this.#changes.length + underWay < upTo) {
        underWay += 1;
        await this.#change();
        underWay -= 1;
        const early = ((this.#changes.length - from) / this.#options.changesPerSecond) * 1_000 - (performance.now() - startedAt);
        if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
      }
    };
    let underWay = 0;
    await Promise.all(Array.from({ length: 4 }, writer));
  }

  async #change(): Promise<void> {
    // Taken out while it changes, so that what is written down is in the order of its commits.
    const [record] = this.#records.splice(Math.floor(Math.random() * this.#records.length), 1);
    if (record === undefined) throw new Error("there are no records left to change");
    const { brand, id, table, turn } = record;
    const status = { submissions: REVIEWS[turn % REVIEWS.length] as string, payouts: "paid", campaigns: "settled" }[table];
    await this.#db.query(`update records.${table} set status = $3 where brand_id = $1 and id = $2`, [brand, id, status]);
    const type = { submissions: `submission.${status}`, payouts: "payout.paid", campaigns: "campaign.settled" }[table];
    this.#changes.push({ brand, record: id, type });
    if (table === "submissions") this.#records.push({ ...record, turn: turn + 1 });
  }

  /** What is not as it must be, in words; empty if every change has its event and reached its receivers, and nothing else is there. */
  async audit(): Promise<string[]> {
    const events = await this.#db.query<StoredEvent>(
      "select id, data->>'id' as record, type, brand_id as brand from webhook.events order by created_at, id",
    );
    return [...this.#auditEvents(events), ...(await this.#auditDeliveries(events)), ...this.#auditArrivals(events)];
  }

  #auditEvents(events: readonly StoredEvent[]): string[] {
    const problems: string[] = [];
    const actual = Map.groupBy(events, ({ record }) => record);
    for (const [record, changes] of Map.groupBy(this.#changes, ({ record }) => record)) {
      const wanted = changes.map(({ type }) => type).join(" ");
      const found = (actual.get(record) ?? []).map(({ type }) => type).join(" ");
      if (wanted !== found) problems.push(`${record}: changes ${wanted}, events ${found}`);
    }
    if (events.length !== this.#changes.length) problems.push(`${this.#changes.length} changes, ${events.length} events`);
    return problems;
  }

  /** One delivery for each event and receiver, delivered; nothing on its way, no lane that thinks so. */
  async #auditDeliveries(events: readonly StoredEvent[]): Promise<string[]> {
    const problems: string[] = [];
    const [left] = await this.#db.query<{ deliveries: number; in_flight: number }>(
      "select (select count(*) from webhook.deliveries) as deliveries, (select sum(in_flight) from webhook.lanes) as in_flight",
    );
    if (left?.deliveries !== 0 || left.in_flight !== 0) problems.push(`left over: ${JSON.stringify(left)}`);
    const rows = await this.#db.query<{ receiver_id: string; event_id: string; state: string }>(
      "select receiver_id, event_id, state from webhook.past_deliveries",
    );
    const undelivered = rows.filter(({ state }) => state !== "delivered").length;
    if (undelivered > 0) problems.push(`${undelivered} deliveries ended otherwise than delivered`);
    const made = new Set(rows.map(({ receiver_id, event_id }) => `${receiver_id} ${event_id}`));
    const wanted = this.#receivers.flatMap(({ id, brand }) =>
      events.filter((event) => event.brand === brand).map((event) => `${id} ${event.id}`),
    );
    if (rows.length !== made.size) problems.push(`${rows.length - made.size} deliveries there are twice`);
    const missing = wanted.filter((delivery) => !made.has(delivery)).length;
    if (missing > 0 || made.size !== wanted.length)
      problems.push(`${wanted.length} deliveries wanted, ${missing} of them missing, ${made.size} made`);
    return problems;
  }

  /** Every event arrived, and was accepted, at every receiver; at those that take one at a time first attempts came in order. */
  #auditArrivals(events: readonly StoredEvent[]): string[] {
    const problems: string[] = [];
    const arrivals = Map.groupBy(this.#fakes.arrivals, ({ receiver }) => receiver);
    for (const { number, brand, ordered } of this.#receivers) {
      const here = arrivals.get(number) ?? [];
      const wanted = new Set(events.filter((event) => event.brand === brand).map(({ id }) => id));
      const accepted = new Set(here.filter(({ behavior }) => behavior === "accepted").map(({ eventId }) => eventId));
      const missing = [...wanted].filter((id) => !accepted.has(id));
      if (missing.length > 0) problems.push(`receiver ${number}: ${missing.length} events never accepted, such as ${missing[0]}`);
      const foreign = here.filter(({ eventId }) => !wanted.has(eventId)).length;
      if (foreign > 0) problems.push(`receiver ${number}: ${foreign} requests of events that are not its brand's`);
      if (ordered && !firstAttemptsInOrder(here)) problems.push(`receiver ${number}: first attempts out of order`);
    }
    return problems;
  }

  /** Accepted more than once: what at least once costs. */
  duplicates(): number {
    const accepted = this.#fakes.arrivals.filter(({ behavior }) => behavior === "accepted");
    return accepted.length - new Set(accepted.map(({ receiver, eventId }) => `${receiver} ${eventId}`)).size;
  }

  async stop(): Promise<void> {
    await this.#db.stop();
  }
}

/** Ids of events sort by the time of their change. */
function firstAttemptsInOrder(arrivals: readonly Arrival[]): boolean {
  const first = arrivals.filter(({ attempt }) => attempt === 1);
  return [...Map.groupBy(first, ({ record }) => record).values()].every((ofRecord) =>
    ofRecord.every(({ eventId }, index) => index === 0 || (ofRecord[index - 1]?.eventId ?? "") <= eventId),
  );
}

const INSERTS = {
  submissions: `insert into records.submissions (brand_id, id, created_at, updated_at, campaign_id, creator_id, status, platform, content_url,
                  earned_centavos, currency, submitted_at)
                values ($1, $2, $3, $3, 'cmp_1', 'crt_1', 'pending', 'tiktok', 'https://video.example/1', 12000, 'PHP', $3)`,
  payouts: `insert into records.payouts (brand_id, id, created_at, updated_at, campaign_id, creator_id, status, amount_centavos, fee_centavos,
              currency, submission_count, conversion_count)
            values ($1, $2, $3, $3, 'cmp_1', 'crt_1', 'processing', 250000, 1500, 'PHP', 3, 0)`,
  campaigns: `insert into records.campaigns (brand_id, id, created_at, updated_at, title, type, status, currency, budget_centavos,
                committed_centavos, paid_centavos, platforms)
              values ($1, $2, $3, $3, 'Campaign', 'blitz', 'ended', 'PHP', 500000, 350000, 350000, '{}')`,
} as const;
