import { openPool, type Database } from "@brand-records/postgres";
import { newId } from "@brand-records/ids";
import type { Arrival, FakeReceivers } from "./fake-receivers.ts";
import { callContext, type Stack, type TestBrand } from "./stack.ts";

/** Statuses that a record can alternate between; each change is an event. */
const REVIEWS = ["approved", "rejected"] as const;

/** The audit reads a million events in one statement. */
const AUDIT_MS_MAX = 300_000;

export interface LedgerOptions {
  readonly brands: number;
  readonly recordsPerBrand: number;
  /** Each selects every event type. */
  readonly receiversPerBrand: number;
  /** The rate of all writers together. */
  readonly changesPerSecond: number;
  /** Default: 4. */
  readonly writers?: number | undefined;
  /** Runs a statement about a brand's records, which can be repeated. Default: in the database of the others. */
  readonly write?: ((brand: string, statement: string, values: readonly unknown[]) => Promise<unknown>) | undefined;
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
  /** Number among the fake receivers. */
  readonly number: number;
  /** Takes one attempt at a time, so its first attempts must arrive in the order of each record's changes. */
  readonly ordered: boolean;
}

/**
 * A platform that records every change it commits. `audit` then checks that each change became one event, that each event
 * reached every receiver that selected it, and that nothing else was sent.
 */
export class Ledger {
  readonly #db: Database;
  readonly #options: LedgerOptions;
  readonly #write: NonNullable<LedgerOptions["write"]>;
  readonly #changes: Change[] = [];
  readonly brands: TestBrand[] = [];
  readonly #receivers: Receiver[] = [];
  readonly #records: { brand: string; id: string; table: "submissions" | "payouts" | "campaigns"; changes: number }[] = [];

  readonly #fakes: FakeReceivers;

  constructor(stack: Stack, fakes: FakeReceivers, options: LedgerOptions) {
    this.#fakes = fakes;
    this.#db = openPool({ url: stack.databaseUrl, applicationName: "platform", max: 5, statementTimeoutMs: AUDIT_MS_MAX });
    this.#options = options;
    this.#write = options.write ?? ((_, statement, values) => this.#db.query(statement, values));
  }

  /** The brand's submissions, which no change adds to or removes from. */
  submissionsOf(brand: string): string[] {
    return this.#records.filter((record) => record.brand === brand && record.table === "submissions").map(({ id }) => id);
  }

  get changes(): number {
    return this.#changes.length;
  }

  get db(): Database {
    return this.#db;
  }

  /** Creates brands, receivers and records whose statuses can change. Every second receiver takes one attempt at a time. */
  async prepare(stack: Stack): Promise<void> {
    for (let index = 0; index < this.#options.brands; index += 1) {
      const made = await stack.createBrand();
      const brand = made.id;
      this.brands.push(made);
      for (let receiver = 0; receiver < this.#options.receiversPerBrand; receiver += 1) await this.#register(stack, brand);
      await this.#insertRecords(brand);
    }
  }

  async #register(stack: Stack, brand_id: string): Promise<void> {
    const number = this.#receivers.length;
    const ordered = number % 2 === 0;
    const { id } = await stack.addReceiver({ id: brand_id }, this.#fakes.urlOf(number));
    if (ordered) await stack.receivers.updateReceiver({ brand_id, receiver_id: id, events: [], max_in_flight: 1 }, callContext());
    this.#receivers.push({ id, brand: brand_id, number, ordered });
  }

  /** Makes one in 20 records a campaign and one a payout, which change once; the others are submissions, which change repeatedly. */
  async #insertRecords(brand: string): Promise<void> {
    const at = new Date().toISOString();
    for (let index = 0; index < this.#options.recordsPerBrand; index += 1) {
      const table = index % 20 === 0 ? "campaigns" : index % 20 === 1 ? "payouts" : "submissions";
      const id = newId({ campaigns: "cmp", payouts: "po", submissions: "sub" }[table]);
      this.#records.push({ brand, id, table, changes: 0 });
      await this.#write(brand, INSERTS[table], [brand, id, at]);
    }
  }

  /** Changes statuses at the configured pace until `changes` reaches `upTo`. Rejects with any error of the database. */
  async write(upTo: number): Promise<void> {
    const startedAt = performance.now();
    const from = this.#changes.length;
    const writer = async (): Promise<void> => {
      while (this.#changes.length + inProgress < upTo) {
        inProgress += 1;
        await this.#change();
        inProgress -= 1;
        const early = ((this.#changes.length - from) / this.#options.changesPerSecond) * 1_000 - (performance.now() - startedAt);
        if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
      }
    };
    let inProgress = 0;
    await Promise.all(Array.from({ length: this.#options.writers ?? 4 }, writer));
  }

  async #change(): Promise<void> {
    // Removed while it changes, so that its changes are recorded in commit order.
    const [record] = this.#records.splice(Math.floor(Math.random() * this.#records.length), 1);
    if (record === undefined) throw new Error("no records left to change");
    const { brand, id, table, changes } = record;
    const status = { submissions: REVIEWS[changes % REVIEWS.length] as string, payouts: "paid", campaigns: "settled" }[table];
    await this.#write(brand, `update records.${table} set status = $3 where brand_id = $1 and id = $2 and status <> $3`, [
      brand,
      id,
      status,
    ]);
    const type = { submissions: `submission.${status}`, payouts: "payout.paid", campaigns: "campaign.settled" }[table];
    this.#changes.push({ brand, record: id, type });
    if (table === "submissions") this.#records.push({ ...record, changes: changes + 1 });
  }

  /** Describes each violation. Empty if every change has its event, every event reached its receivers, and nothing else was sent. */
  async audit(): Promise<string[]> {
    const events = await this.#db.query<StoredEvent>(
      "select id, data->>'id' as record, type, brand_id as brand from webhook.events order by created_at, id",
    );
    return [
      ...this.#auditEvents(events),
      ...(await this.#auditDeliveries(events)),
      ...this.#auditArrivals(events),
      ...(await this.#auditOrder()),
    ];
  }

  #auditEvents(events: readonly StoredEvent[]): string[] {
    const problems: string[] = [];
    const actual = Map.groupBy(events, ({ record }) => record);
    for (const [record, changes] of Map.groupBy(this.#changes, ({ record }) => record)) {
      const expected = changes.map(({ type }) => type).join(" ");
      const found = (actual.get(record) ?? []).map(({ type }) => type).join(" ");
      if (expected !== found) problems.push(`${record}: changes ${expected}, events ${found}`);
    }
    if (events.length !== this.#changes.length) problems.push(`${this.#changes.length} changes, ${events.length} events`);
    return problems;
  }

  /** Checks that each event was delivered once to each receiver, and that no delivery is pending or in flight. */
  async #auditDeliveries(events: readonly StoredEvent[]): Promise<string[]> {
    const problems: string[] = [];
    const [left] = await this.#db.query<{ deliveries: number; in_flight: number }>(
      "select (select count(*) from webhook.deliveries) as deliveries, (select sum(in_flight) from webhook.lanes) as in_flight",
    );
    if (left?.deliveries !== 0 || left.in_flight !== 0) problems.push(`not finished: ${JSON.stringify(left)}`);
    const rows = await this.#db.query<{ receiver_id: string; event_id: string; state: string }>(
      "select receiver_id, event_id, state from webhook.past_deliveries",
    );
    const undelivered = rows.filter(({ state }) => state !== "delivered").length;
    if (undelivered > 0) problems.push(`${undelivered} deliveries not delivered`);
    const distinct = new Set(rows.map(({ receiver_id, event_id }) => `${receiver_id} ${event_id}`));
    const expected = this.#receivers.flatMap(({ id, brand }) =>
      events.filter((event) => event.brand === brand).map((event) => `${id} ${event.id}`),
    );
    if (rows.length !== distinct.size) problems.push(`${rows.length - distinct.size} duplicate deliveries`);
    const missing = expected.filter((delivery) => !distinct.has(delivery)).length;
    if (missing > 0 || distinct.size !== expected.length)
      problems.push(`${expected.length} deliveries expected, ${missing} missing, ${distinct.size} found`);
    return problems;
  }

  /** Checks that every receiver accepted every event. */
  #auditArrivals(events: readonly StoredEvent[]): string[] {
    const problems: string[] = [];
    const arrivals = Map.groupBy(this.#fakes.arrivals, ({ receiver }) => receiver);
    for (const { number, brand } of this.#receivers) {
      const received = arrivals.get(number) ?? [];
      const expected = new Set(events.filter((event) => event.brand === brand).map(({ id }) => id));
      const accepted = new Set(received.filter(({ behavior }) => behavior === "accepted").map(({ eventId }) => eventId));
      const missing = [...expected].filter((id) => !accepted.has(id));
      if (missing.length > 0) problems.push(`receiver ${number}: ${missing.length} events never accepted, such as ${missing[0]}`);
      const foreign = received.filter(({ eventId }) => !expected.has(eventId)).length;
      if (foreign > 0) problems.push(`receiver ${number}: ${foreign} requests with events of other brands`);
    }
    return problems;
  }

  /** Checks that ordered receivers got the first attempts of each record in the order of its changes. */
  async #auditOrder(): Promise<string[]> {
    const problems: string[] = [];
    const arrivals = Map.groupBy(this.#fakes.arrivals, ({ receiver }) => receiver);
    for (const { id, number, ordered } of this.#receivers) {
      if (!ordered) continue;
      for (const [before, after] of firstAttemptsOutOfOrder(arrivals.get(number) ?? [])) {
        const [late, early] = [await this.#described(id, after), await this.#described(id, before)];
        problems.push(`receiver ${number}: first attempt of ${late} after that of ${early}, a later event of ${after.record}`);
      }
    }
    return problems;
  }

  /** When a first attempt began, by the process that made it, and when it arrived: a receivers' process that stood still may swap two. */
  async #described(receiverId: string, { eventId, at, behavior }: Arrival): Promise<string> {
    const [recorded] = await this.#db.query<{ attempt: object }>(FIRST_ATTEMPT, [receiverId, eventId]);
    return `${eventId} (arrived ${new Date(at).toISOString()}, ${behavior}; recorded ${JSON.stringify(recorded?.attempt)})`;
  }

  /** Acceptances after which a delivery was accepted again, which at-least-once delivery allows. */
  duplicates(): Arrival[] {
    const last = new Map<string, Arrival>();
    const again: Arrival[] = [];
    for (const arrival of this.#fakes.arrivals) {
      if (arrival.behavior !== "accepted") continue;
      const delivery = `${arrival.receiver} ${arrival.eventId}`;
      const before = last.get(delivery);
      if (before !== undefined) again.push(before);
      last.set(delivery, arrival);
    }
    return again;
  }

  /** Counts requests to receivers that take one attempt at a time which came while another had no response. */
  overlaps(): number {
    const ordered = new Set(this.#receivers.filter((receiver) => receiver.ordered).map(({ number }) => number));
    return this.#fakes.arrivals.filter(({ receiver, beside }) => beside > 0 && ordered.has(receiver)).length;
  }

  async stop(): Promise<void> {
    await this.#db.stop();
  }
}

/** Pairs of first attempts of a record, in order of arrival, of which the second is of an earlier event. Event ids sort by the time of their change, by microseconds. */
function firstAttemptsOutOfOrder(arrivals: readonly Arrival[]): (readonly [Arrival, Arrival])[] {
  const first = arrivals.filter(({ attempt }) => attempt === 1);
  return [...Map.groupBy(first, ({ record }) => record).values()].flatMap((ofRecord) =>
    ofRecord.flatMap((arrival, index) => {
      const before = ofRecord[index - 1];
      return before === undefined || before.eventId <= arrival.eventId ? [] : [[before, arrival] as const];
    }),
  );
}

/** A delivery that took one attempt has it itself. */
const FIRST_ATTEMPT = `
  select to_jsonb(t) as attempt
    from webhook.past_deliveries p cross join lateral (
      select a.started_at, a.duration_ms, a.outcome from webhook.attempts a where a.delivery_id = p.id and a.attempt = 1
      union all
      select p.started_at, p.duration_ms, p.outcome where p.attempts = 1) t
   where p.receiver_id = $1 and p.event_id = $2`;

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
