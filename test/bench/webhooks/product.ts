import { randomBytes } from "node:crypto";
import { migrate } from "@brand-records/postgres";
import { ReceiversServiceService } from "@brand-records/proto/webhook/v1";
import { connectRpc, newCallContext, type RpcClient } from "@brand-records/rpc";
import pg from "pg";
import { cpuMs, memoryMib, peakMemoryMib, postgresCpuMs } from "../harness/process-usage.ts";
import { type Build, migrationsOf, type Program, scriptOf } from "../harness/programs.ts";
import { BOUNDED, type BenchDatabase } from "../harness/databases.ts";
import type { Environment } from "../harness/environment.ts";
import { addBacklog, untilNoAutovacuum, waitForCount } from "./database-state.ts";
import { brandOf, Outbox } from "./outbox.ts";

export interface ProductParts extends BenchDatabase, Pick<Environment, "start" | "watchForeign"> {
  readonly build: Build;
  readonly postgresPid: number;
  /** A broker of its own: the consumer group's name is not a setting. */
  readonly brokers: string;
  readonly kafkaPid: number;
  readonly receiversPid: number;
  readonly ports: readonly number[];
}

export const PROGRAMS = ["records", "webhook"] as const;

/** CPU time by process, in milliseconds. */
export type Usage = Readonly<Record<"webhook" | "records" | "postgres" | "kafka" | "receivers", number>>;

/** No delivery for this long is a failure of the product, not of the disk. */
const STUCK_MS = 120_000;
const CALL_MS = 10_000;
/** Deletes or moves a whole backlog. */
const ENABLE_MS = 120_000;

/** records and webhook with default settings, except that receivers may be on loopback. */
export class WebhookProduct {
  readonly outbox: Outbox;
  readonly client: pg.Client;
  readonly benchUrl: string;
  readonly #parts: ProductParts;
  readonly #records: Program;
  /** The first one serves the calls. */
  readonly #webhooks: Program[];
  readonly #startWebhook: (number: number) => Program;
  readonly #rpc: RpcClient<ReceiversServiceService>;
  /** Receiver ids by number. */
  readonly #ids: string[] = [];
  /** Events stored by the benchmark itself. */
  #addedEvents = 0;

  private constructor(parts: ProductParts, client: pg.Client, { records, webhook, startWebhook }: Programs, rpcPort: number) {
    this.#parts = parts;
    this.benchUrl = parts.benchUrl;
    this.client = client;
    this.outbox = new Outbox(parts.benchUrl);
    this.#records = records;
    this.#webhooks = [webhook];
    this.#startWebhook = startWebhook;
    this.#rpc = connectRpc(ReceiversServiceService, `127.0.0.1:${rpcPort}`);
  }

  static async start(parts: ProductParts): Promise<WebhookProduct> {
    const { build, databaseUrl, benchUrl, ports } = parts;
    for (const schema of PROGRAMS) await migrate({ url: databaseUrl, schema, directory: migrationsOf(build, schema) });
    const client = new pg.Client({ connectionString: benchUrl, application_name: "bench", ...BOUNDED });
    // Errors also reject the query that they break.
    client.on("error", () => {});
    await client.connect();
    const programs = startPrograms(parts);
    const { records, webhook } = programs;
    await records.ready;
    const { rpc_port } = (await webhook.ready) as { rpc_port: number };
    const product = new WebhookProduct(parts, client, programs, rpc_port);
    await product.#register(ports);
    return product;
  }

  /** Registers one brand and receiver per port, so that each event has one receiver. Uses gRPC, so that secrets are encrypted. */
  async #register(ports: readonly number[]): Promise<void> {
    for (const [index, port] of ports.entries()) {
      await this.client.query("insert into webhook.brands values ($1) on conflict do nothing", [brandOf(index)]);
      const request = {
        brand_id: brandOf(index),
        url: `http://127.0.0.1:${port}/`,
        label: `Receiver ${index}`,
        events: ["submission.approved"],
      };
      const { receiver } = await this.#rpc.createReceiver(request, newCallContext(CALL_MS, "bench"));
      this.#ids.push(receiver?.id ?? "");
    }
  }

  #idOf(receiver: number): string {
    return this.#ids[receiver] ?? "";
  }

  /** Returns a function that returns how many cores programs outside the run have used since. */
  watchForeign(): Promise<() => Promise<number>> {
    return this.#parts.watchForeign();
  }

  /** Returns the number of recorded successful deliveries. */
  async delivered(): Promise<number> {
    const { rows } = await this.client.query<{ n: string }>("select count(*) as n from webhook.past_deliveries where state = 'delivered'");
    return Number(rows[0]?.n);
  }

  /** Resolves once all changes have become events and no delivery is pending or in flight. */
  async untilIdle(): Promise<void> {
    const finished = async (): Promise<number> => {
      const { rows } = await this.client.query<{ left: number; finished: string; events: string }>(
        `select (select count(*) from webhook.deliveries) + (select count(*) from records.outbox) as left,
                (select count(*) from webhook.past_deliveries) as finished, (select count(*) from webhook.events) as events`,
      );
      const [row] = rows;
      return Number(row?.left) === 0 && Number(row?.events) >= this.outbox.made + this.#addedEvents
        ? Number.POSITIVE_INFINITY
        : Number(row?.finished);
    };
    await this.#waitFor(finished, Number.POSITIVE_INFINITY, "some are pending");
  }

  /** Resolves once `count` successful deliveries are recorded. */
  async untilDelivered(count: number): Promise<void> {
    await this.#waitFor(() => this.delivered(), count, `${count} were expected`);
  }

  async #waitFor(read: () => Promise<number>, wanted: number, expected: string): Promise<void> {
    if (await waitForCount(read, wanted, STUCK_MS)) return;
    throw new Error(`${this.#parts.build.name}: no delivery ended for ${STUCK_MS / 1_000} s, and ${expected}`);
  }

  /** Makes the next measurement start without leftover work: no dead rows, no autovacuum, no checkpoint. */
  async settle(): Promise<void> {
    await untilNoAutovacuum(this.client);
    await this.vacuum();
    await this.client.query("checkpoint");
  }

  async vacuum(): Promise<void> {
    await this.client.query("vacuum analyze");
  }

  /** Gives a receiver overdue deliveries until `total` are pending. */
  async addBacklog(receiver: number, total: number): Promise<void> {
    const { rows } = await this.client.query<{ n: string }>(
      "select count(*) as n from webhook.deliveries where receiver_id = $1 and state = 'pending'",
      [this.#idOf(receiver)],
    );
    const count = Math.max(0, total - Number(rows[0]?.n));
    this.#addedEvents += count;
    await addBacklog(this.client, receiver, this.#idOf(receiver), count);
  }

  /**
   * Deletes what a receiver has pending, as a member does who enables it without what was held. A vacuum would hide what the dead rows
   * cost. Returns the number of deleted deliveries.
   */
  async deleteBacklog(receiver: number): Promise<number> {
    await this.#disable(receiver);
    return this.#enable(receiver, "drop");
  }

  /**
   * Closes the circuits of receivers that respond again, as a member does who disables and enables them, and sends at once what waits for a
   * retry. An attempt that failed after that would wait for five minutes: none may be in flight.
   */
  async restore(receivers: readonly number[]): Promise<void> {
    for (const receiver of receivers) await this.#disable(receiver);
    const ids = receivers.map((receiver) => this.#idOf(receiver));
    const ended = async (): Promise<number> => {
      const { rows } = await this.client.query<{ n: string }>(
        "select count(*) as n from webhook.deliveries where receiver_id = any($1) and state = 'sending'",
        [ids],
      );
      return -Number(rows[0]?.n);
    };
    await this.#waitFor(ended, 0, "some of disabled receivers are in flight");
    for (const receiver of receivers) await this.#enable(receiver, "release");
  }

  async #disable(receiver: number): Promise<void> {
    await this.#rpc.disableReceiver(this.#keyOf(receiver), newCallContext(CALL_MS, "bench"));
  }

  /** Returns how many of the held deliveries were dropped. */
  async #enable(receiver: number, held: "drop" | "release"): Promise<number> {
    const { dropped } = await this.#rpc.enableReceiver({ ...this.#keyOf(receiver), held }, newCallContext(ENABLE_MS, "bench"));
    return dropped;
  }

  #keyOf(receiver: number): { brand_id: string; receiver_id: string } {
    return { brand_id: brandOf(receiver), receiver_id: this.#idOf(receiver) };
  }

  async usage(): Promise<Usage> {
    const { postgresPid, kafkaPid, receiversPid } = this.#parts;
    const [webhooks, records, postgres, kafka, receivers] = await Promise.all([
      Promise.all(this.#webhooks.map(({ pid }) => cpuMs(pid))),
      cpuMs(this.#records.pid),
      postgresCpuMs(postgresPid),
      cpuMs(kafkaPid),
      cpuMs(receiversPid),
    ]);
    return { webhook: webhooks.reduce((sum, ms) => sum + ms, 0), records, postgres, kafka, receivers };
  }

  /** Starts or stops webhook processes until there are `count`. They share the topic's partitions and the lanes. */
  async runWebhooks(count: number): Promise<void> {
    while (this.#webhooks.length > count) await this.#webhooks.pop()?.stop();
    while (this.#webhooks.length < count) {
      const program = this.#startWebhook(this.#webhooks.length + 1);
      await program.ready;
      this.#webhooks.push(program);
    }
  }

  /** Returns resident memory in MiB, now and at its peak. */
  async memory(): Promise<Readonly<Record<(typeof PROGRAMS)[number], { readonly now: number; readonly peak: number }>>> {
    const read = async ({ pid }: Program) => ({ now: await memoryMib(pid), peak: await peakMemoryMib(pid) });
    const [webhook] = this.#webhooks;
    if (webhook === undefined) throw new Error("no webhook process runs");
    return { webhook: await read(webhook), records: await read(this.#records) };
  }

  async stop(): Promise<void> {
    this.#rpc.stop();
    await Promise.all([this.client.end(), this.outbox.stop()]);
  }
}

interface Programs {
  readonly records: Program;
  readonly webhook: Program;
  /** Starts another one, with the same keys. */
  readonly startWebhook: (number: number) => Program;
}

function startPrograms({ build, databaseUrl, brokers, start }: ProductParts): Programs {
  const suffix = build.name === "this" ? "" : `-${build.name}`;
  const common = { DATABASE_URL: databaseUrl, KAFKA_BROKERS: brokers, STOP_GRACE_MS: "0" };
  const webhookEnv = {
    ...common,
    ACCOUNTS_ADDRESS: "127.0.0.1:1",
    RECEIVER_SECRET_KEYS: `1:${randomBytes(32).toString("base64")}`,
    RECEIVERS_ON_LOOPBACK: "true",
  };
  const startWebhook = (number: number): Program =>
    start({ name: `webhook${suffix}${number === 1 ? "" : `-${number}`}`, script: scriptOf(build, "webhook"), env: webhookEnv });
  const records = start({ name: `records${suffix}`, script: scriptOf(build, "records"), env: common });
  return { records, webhook: startWebhook(1), startWebhook };
}
