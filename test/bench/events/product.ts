import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { scriptIn } from "../../program-script.ts";
import { migrateService } from "../harness/databases.ts";
import { type Program, type ProgramOptions, ROOT } from "../harness/programs.ts";
import type { Message } from "./bare-loop.ts";
import { MESSAGES, PARTITIONS, RECORDS } from "./settings.ts";

const SAMPLE_MS = 50;
const BRAND = "brd_bench";

export interface ProductParts {
  readonly databaseUrl: string;
  readonly brokers: string;
  readonly start: (program: ProgramOptions) => Program;
}

/** The product's relay and intake, with default settings. */
export class EventProduct {
  readonly #parts: ProductParts;
  readonly #client: pg.Client;
  readonly #receiverSecretKeys = `1:${randomBytes(32).toString("base64")}`;

  private constructor(parts: ProductParts, client: pg.Client) {
    this.#parts = parts;
    this.#client = client;
  }

  /** Creates the schemas, one brand, and one receiver that selects the measured events. */
  static async prepare(parts: ProductParts): Promise<EventProduct> {
    for (const service of ["records", "webhook"]) await migrateService(parts, service);
    const client = new pg.Client({ connectionString: parts.databaseUrl, application_name: "bench" });
    await client.connect();
    await client.query(
      `insert into webhook.brands values ('${BRAND}');
       insert into webhook.receivers (brand_id, id, url, label, events, secret, secret_key_id)
         values ('${BRAND}', 'rcv_bench', 'https://receiver.example/', 'Bench', array['submission.approved'], ''::bytea, 1);
       insert into webhook.lanes (receiver_id) values ('rcv_bench')`,
    );
    await client.query(
      `insert into records.submissions (brand_id, id, created_at, updated_at, campaign_id, creator_id, status, platform, content_url,
         earned_centavos, currency, submitted_at)
       select '${BRAND}', 'sub_' || n, now(), now(), 'cmp_1', 'crt_1', 'rejected', 'tiktok', 'https://video.example/', 12000, 'PHP', now()
         from generate_series(1, ${RECORDS}) n`,
    );
    return new EventProduct(parts, client);
  }

  /** Changes records as the platform would, so that triggers fill the outbox. Returns the outbox's messages. */
  async fillOutbox(): Promise<Message[]> {
    await this.#client.query("truncate records.outbox");
    // The approvals make events. The rejections make the next approvals possible, with events switched off.
    for (let count = 0; count < MESSAGES; count += RECORDS) {
      await this.#client.query("begin");
      await this.#client.query("update records.submissions set status = 'approved'");
      await this.#client.query("set local brand_records.events = off");
      await this.#client.query("update records.submissions set status = 'rejected'");
      await this.#client.query("commit");
    }
    await this.#client.query("vacuum records.submissions");
    const { rows } = await this.#client.query<Message>(
      "select aggregateid as key, payload::text as value from records.outbox order by seq",
    );
    if (rows.length !== MESSAGES) throw new Error(`${MESSAGES} changes made ${rows.length} events`);
    return rows;
  }

  /** Returns the events per second that the relay publishes from the outbox to the topic, acknowledged and removed. */
  async relay(topic: string): Promise<number> {
    return this.#measure("records", topic, {}, "outbox_published_total");
  }

  /** Returns the messages per second that intake reads from the topic and stores, each as one event and one delivery. */
  async intake(topic: string): Promise<number> {
    const env = { ACCOUNTS_ADDRESS: "127.0.0.1:1", RECEIVER_SECRET_KEYS: this.#receiverSecretKeys };
    const rate = await this.#measure("webhook", topic, env, "intake_events_total");
    const { rows } = await this.#client.query<{ events: string; deliveries: string }>(
      // The sender runs too: it moves deliveries that cannot be sent from the queue to past_deliveries.
      `select (select count(*) from webhook.events) as events,
              (select count(*) from webhook.deliveries) + (select count(*) from webhook.past_deliveries) as deliveries`,
    );
    const [counts] = rows;
    if (counts?.events !== String(MESSAGES) || counts.deliveries !== counts.events) {
      throw new Error(`${MESSAGES} messages made ${counts?.events} events and ${counts?.deliveries} deliveries`);
    }
    await this.#client.query("truncate webhook.events, webhook.deliveries, webhook.past_deliveries");
    return rate;
  }

  /** Starts a service and measures from the counter's first increase to its last, so the start of the process does not count. */
  async #measure(name: "records" | "webhook", topic: string, env: Record<string, string>, counter: string): Promise<number> {
    const program = this.#parts.start({
      name,
      script: scriptIn(ROOT, name),
      env: {
        DATABASE_URL: this.#parts.databaseUrl,
        KAFKA_BROKERS: this.#parts.brokers,
        KAFKA_TOPIC: topic,
        KAFKA_PARTITIONS: String(PARTITIONS),
        STOP_GRACE_MS: "0",
        ...env,
      },
    });
    try {
      return await ratePerSecond((await program.ready) as { admin_port: number }, counter);
    } finally {
      await program.stop();
    }
  }

  async stop(): Promise<void> {
    await this.#client.end();
  }
}

async function ratePerSecond({ admin_port }: { admin_port: number }, counter: string): Promise<number> {
  const pattern = new RegExp(`^${counter}(?:\\{[^}]*\\})? (\\d+)$`, "m");
  const read = async (): Promise<number> => {
    const response = await fetch(`http://127.0.0.1:${admin_port}/metrics`);
    return Number(pattern.exec(await response.text())?.[1] ?? 0);
  };
  let first: { at: number; count: number } | undefined;
  for (;;) {
    const count = await read();
    const at = performance.now();
    if (first === undefined && count > 0) first = { at, count };
    if (first !== undefined && count >= MESSAGES) return (count - first.count) / ((at - first.at) / 1_000);
    await pause(SAMPLE_MS);
  }
}
