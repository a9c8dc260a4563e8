import { openPool, type Database } from "@brand-records/postgres";
import { newId } from "@brand-records/typeid";
import { callContext, type Stack } from "./stack.ts";

/** Statuses a record can take in turn for ever, each of them an event. */
const REVIEWS = ["approved", "rejected"] as const;

export interface LedgerOptions {
  readonly brands: number;
  readonly recordsPerBrand: number;
  readonly receiversPerBrand: number;
  /** A second, over all writers. */
  readonly changesPerSecond: number;
}

interface Change {
  readonly brand: string;
  readonly record: string;
  readonly type: string;
}

/** A receiver and what it selected. */
interface Receiver {
  readonly id: string;
  readonly brand: string;
  readonly events: readonly string[];
}

/**
 * A platform that writes down every change it commits, so that afterwards each can be asked for: was there an event, a
 * delivery for every receiver that selected it, and nothing else?
 */
export class Ledger {
  readonly #db: Database;
  readonly #options: LedgerOptions;
  readonly #changes: Change[] = [];
  readonly #receivers: Receiver[] = [];
  readonly #records: { brand: string; id: string; table: "submissions" | "payouts" | "campaigns"; turn: number }[] = [];

  constructor(stack: Stack, options: LedgerOptions) {
    this.#db = openPool({ url: stack.databaseUrl, applicationName: "platform", max: 5 });
    this.#options = options;
  }

  get changes(): number {
    return this.#changes.length;
  }

  get db(): Database {
    return this.#db;
  }

  /** Brands, receivers with different selections, and records whose statuses can change. */
  async prepare(stack: Stack): Promise<void> {
    const selections = [
      ["submission.approved"],
      ["submission.approved", "submission.rejected"],
      ["submission.approved", "submission.rejected", "payout.paid", "campaign.settled"],
      ["payout.paid", "campaign.settled"],
    ];
    for (let index = 0; index < this.#options.brands; index += 1) {
      const { id: brand } = await stack.createBrand();
      for (let receiver = 0; receiver < this.#options.receiversPerBrand; receiver += 1) {
        const events = selections[receiver % selections.length] ?? [];
        const request = { brand_id: brand, url: `https://receiver.example/${receiver}`, label: `Receiver ${receiver}`, events };
        const created = await stack.receivers.createReceiver(request, callContext());
        this.#receivers.push({ id: created.receiver?.id ?? "", brand, events });
      }
      await this.#insertRecords(brand);
    }
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

  /** What is not as it has to be, in words; empty if every change has its event and its deliveries, and nothing else is there. */
  async audit(): Promise<string[]> {
    const problems: string[] = [];
    const events = await this.#db.query<{ id: string; record: string; type: string }>(
      "select id, data->>'id' as record, type from webhook.events order by created_at, id",
    );
    const expected = Map.groupBy(this.#changes, ({ record }) => record);
    const actual = Map.groupBy(events, ({ record }) => record);
    for (const [record, changes] of expected) {
      const wanted = changes.map(({ type }) => type).join(" ");
      const found = (actual.get(record) ?? []).map(({ type }) => type).join(" ");
      if (wanted !== found) problems.push(`${record}: changes ${wanted}, events ${found}`);
    }
    if (events.length !== this.#changes.length) problems.push(`${this.#changes.length} changes, ${events.length} events`);
    await this.#auditDeliveries(events, problems);
    return problems;
  }

  async #auditDeliveries(events: readonly { id: string; record: string; type: string }[], problems: string[]): Promise<void> {
    const brandOf = new Map(this.#changes.map(({ record, brand }) => [record, brand]));
    const rows = await this.#db.query<{ receiver_id: string; event_id: string }>(
      "select receiver_id, event_id from webhook.deliveries order by receiver_id, due_at, id",
    );
    const sent = Map.groupBy(rows, ({ receiver_id }) => receiver_id);
    const recordOf = new Map(events.map(({ id, record }) => [id, record]));
    for (const { id, brand, events: selected } of this.#receivers) {
      const wanted = events.filter(({ type, record }) => brandOf.get(record) === brand && selected.includes(type)).map((event) => event.id);
      const found = (sent.get(id) ?? []).map(({ event_id }) => event_id);
      if (found.length !== wanted.length || new Set(found).size !== found.length) {
        problems.push(`${id}: ${wanted.length} events selected, ${found.length} deliveries of ${new Set(found).size} events`);
      }
      // Events of different records may have overtaken each other; those of one may not.
      const inOrder = (ids: readonly string[]): string =>
        JSON.stringify([...Map.groupBy(ids, (event) => recordOf.get(event) ?? "")].toSorted(([a], [b]) => (a < b ? -1 : 1)));
      if (inOrder(found) !== inOrder(wanted)) problems.push(`${id}: deliveries are out of order, or others than were selected`);
    }
    const known = new Set(this.#receivers.map(({ id }) => id));
    const strangers = rows.filter(({ receiver_id }) => !known.has(receiver_id)).length;
    if (strangers > 0) problems.push(`${strangers} deliveries for receivers nobody made`);
  }

  async stop(): Promise<void> {
    await this.#db.stop();
  }
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
