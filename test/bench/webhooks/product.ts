import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { migrate } from "@brand-records/postgres";
import { ReceiversServiceService } from "@brand-records/proto/webhook/v1";
import { connectRpc, newCallContext } from "@brand-records/rpc";
import pg from "pg";
import { cpuMs, postgresCpuMs } from "../process-usage.ts";
import { ROOT, type Program, type ProgramOptions } from "../program.ts";
import { BODY_BYTES, RECEIVERS, WRITERS } from "./settings.ts";

export interface ProductParts {
  readonly databaseUrl: string;
  readonly postgresPid: number;
  readonly kafkaPid: number;
  readonly brokers: string;
  readonly receiversPid: number;
  readonly ports: readonly number[];
  readonly start: (program: ProgramOptions) => Program;
}

/** CPU time by process, in milliseconds. */
export type Usage = Readonly<Record<"webhook" | "records" | "postgres" | "kafka" | "receivers", number>>;

const STUCK_MS = 30_000;

const brandOf = (receiver: number): string => `brd_${receiver}`;

/** Pads an event of about 620 bytes to the measured size. */
const PADDING = BODY_BYTES - 620;

/** records and webhook with default settings, except that receivers may be on loopback. */
export class WebhookProduct {
  readonly #parts: ProductParts;
  readonly #client: pg.Client;
  /** Commit changes at a steady rate, beside each other: one waits for the disk as long as a commit takes. */
  readonly #writers: pg.Pool;
  readonly #records: Program;
  readonly #webhook: Program;
  /** Receiver ids by number. */
  readonly #ids: string[] = [];

  private constructor(parts: ProductParts, client: pg.Client, records: Program, webhook: Program) {
    this.#parts = parts;
    this.#client = client;
    this.#writers = new pg.Pool({ connectionString: parts.databaseUrl, application_name: "bench", max: WRITERS });
    this.#writers.on("error", () => {});
    this.#records = records;
    this.#webhook = webhook;
  }

  static async start(parts: ProductParts): Promise<WebhookProduct> {
    const { databaseUrl, brokers, ports, start } = parts;
    for (const service of ["records", "webhook"]) {
      await migrate({ url: databaseUrl, schema: service, directory: join(ROOT, "services", service, "migrations") });
    }
    const client = new pg.Client({ connectionString: databaseUrl, application_name: "bench" });
    // Errors also reject the query that they break.
    client.on("error", () => {});
    await client.connect();
    await client.query("create extension pg_stat_statements");
    const common = { DATABASE_URL: databaseUrl, KAFKA_BROKERS: brokers, STOP_GRACE_MS: "0" };
    const records = start({ name: "records", script: join(ROOT, "services/records/dist/main.js"), env: common });
    const webhook = start({
      name: "webhook",
      script: join(ROOT, "services/webhook/dist/main.js"),
      env: {
        ...common,
        ACCOUNTS_ADDRESS: "127.0.0.1:1",
        RECEIVER_SECRET_KEYS: `1:${randomBytes(32).toString("base64")}`,
        RECEIVERS_ON_LOOPBACK: "true",
      },
    });
    await Promise.race([Promise.all([records.ready, webhook.ready]), records.ended, webhook.ended]);
    const product = new WebhookProduct(parts, client, records, webhook);
    await product.#register(ports);
    return product;
  }

  /** Registers one brand and receiver per port, so that each event has one receiver. Uses gRPC, so that secrets are encrypted. */
  async #register(ports: readonly number[]): Promise<void> {
    const { rpc_port } = (await this.#webhook.ready) as { rpc_port: number };
    const client = connectRpc(ReceiversServiceService, `127.0.0.1:${rpc_port}`);
    for (const [index, port] of ports.entries()) {
      await this.#client.query("insert into webhook.brands values ($1) on conflict do nothing", [brandOf(index)]);
      const request = {
        brand_id: brandOf(index),
        url: `http://127.0.0.1:${port}/`,
        label: `Receiver ${index}`,
        events: ["submission.approved"],
      };
      const { receiver } = await client.createReceiver(request, newCallContext(10_000, "bench"));
      this.#ids.push(receiver?.id ?? "");
    }
    client.stop();
  }

  /** Puts `count` events into the outbox in one transaction, for the receivers in turn. */
  change(count: number): Promise<void> {
    return this.#change(
      this.#client,
      count,
      Array.from({ length: RECEIVERS }, (_, index) => index),
    );
  }

  /** Puts an event for a receiver into the outbox, in a transaction of its own, on the next free of the writers' connections. */
  changeOne(receiver: number): Promise<void> {
    return this.#change(this.#writers, 1, [receiver]);
  }

  async #change(client: pg.Client | pg.Pool, count: number, receivers: readonly number[]): Promise<void> {
    await client.query(
      `with made as (
         select n, at, records.new_id('evt', at) as id, ($2::text[])[1 + n % cardinality($2::text[])] as brand, 'sub_' || n as record
           from (select n, clock_timestamp() as at from generate_series(1, $1) n offset 0) numbered)
       insert into records.outbox (id, aggregatetype, aggregateid, type, payload)
       select id, 'submission', record, 'submission.approved', json_build_object(
                'id', id, 'type', 'submission.approved', 'created_at', records.utc(at), 'brand_id', brand,
                'data', json_build_object('resource', 'submissions', 'id', record, 'campaign_id', 'cmp_1', 'status', 'approved',
                  'previous_status', 'pending', 'updated_at', records.utc(at), 'earned_centavos', 12000, 'currency', 'PHP', 'rejection_code', null, 'reviewed_at', null,
                  'padding', repeat('x', ${PADDING})))
         from made order by n`,
      [count, receivers.map(brandOf)],
    );
    await client.query("notify records_outbox");
  }

  /** Returns the number of recorded successful deliveries. */
  async delivered(): Promise<number> {
    const { rows } = await this.#client.query<{ n: string }>("select count(*) as n from webhook.past_deliveries where state = 'delivered'");
    return Number(rows[0]?.n);
  }

  async untilDelivered(count: number): Promise<void> {
    let progress = { delivered: 0, at: performance.now() };
    for (let delivered = 0; delivered < count; delivered = await this.delivered()) {
      if (delivered > progress.delivered) progress = { delivered, at: performance.now() };
      if (performance.now() - progress.at > STUCK_MS) throw new Error(`no delivery for ${STUCK_MS / 1_000} s: ${delivered} of ${count}`);
      await Promise.race([pause(50), this.#webhook.ended, this.#records.ended]);
    }
  }

  /** Returns the statements of all other sessions since `resetStatements`, including transaction control. */
  async statements(): Promise<number> {
    const { rows } = await this.#client.query<{ n: string }>(
      `select coalesce(sum(calls), 0) as n from pg_stat_statements where toplevel and query not like '%pg_stat_statements%' and query not like '%records.new_id%'
          and query not like '%count(*) as n from webhook.past_deliveries%' and query <> 'notify records_outbox'`,
    );
    return Number(rows[0]?.n);
  }

  async resetStatements(): Promise<void> {
    await this.#client.query("select pg_stat_statements_reset()");
  }

  /** Gives a receiver `count` overdue deliveries, as after a long outage. */
  async fallBehind(receiver: number, count: number): Promise<void> {
    await this.#client.query("select webhook.ensure_day(current_date)");
    await this.#client.query(
      `with made as (
         insert into webhook.events (id, created_at, brand_id, type, data)
         select records.new_id('evt', now()), now(), $2, 'submission.approved', '{"resource":"submissions","id":"sub_0"}' from generate_series(1, $3)
         returning id, created_at)
       insert into webhook.deliveries (id, receiver_id, event_id, event_created_at, due_at)
       select records.new_id('dlv', now()), $1, id, created_at, now() - interval '1 hour' from made`,
      [this.#ids[receiver], brandOf(receiver), count],
    );
    await this.#client.query("vacuum analyze webhook.deliveries");
    await this.#client.query("update webhook.lanes set next_due = now() where receiver_id = $1", [this.#ids[receiver]]);
    await this.#client.query("notify webhook_deliveries");
  }

  async deleteBacklog(receiver: number): Promise<void> {
    await this.#client.query("delete from webhook.deliveries where receiver_id = $1 and state = 'pending'", [this.#ids[receiver]]);
    // Otherwise autovacuum runs during the next measurement.
    await this.#client.query("vacuum webhook.deliveries");
    await this.#client.query("checkpoint");
  }

  async usage(): Promise<Usage> {
    const { postgresPid, kafkaPid, receiversPid } = this.#parts;
    const [webhook, records, postgres, kafka, receivers] = await Promise.all([
      cpuMs(this.#webhook.pid),
      cpuMs(this.#records.pid),
      postgresCpuMs(postgresPid),
      cpuMs(kafkaPid),
      cpuMs(receiversPid),
    ]);
    return { webhook, records, postgres, kafka, receivers };
  }

  async stop(): Promise<void> {
    await Promise.all([this.#client.end(), this.#writers.end()]);
  }
}
