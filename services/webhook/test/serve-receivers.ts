import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { inspect } from "node:util";
import { migrate, openPool, type Database } from "@brand-records/postgres";
import {
  DeliveriesServiceService,
  ReceiversServiceService,
  type CreateReceiverRequest,
  type Receiver,
} from "@brand-records/proto/webhook/v1";
import { connectRpc, serveRpc, service, traceparentFrom, type CallContext, type RpcClient } from "@brand-records/rpc";
import { openMetrics, type Logger } from "@brand-records/telemetry";
import { createDatabase, type TestDatabase } from "@brand-records/testkit";
import { newId } from "@brand-records/typeid";
import type { SecretKey, SecretKeys } from "../src/domain/secret-keys.ts";
import type { KnownBrands, ReceiverParts } from "../src/receiver-parts.ts";
import { deliveriesHandlers } from "../src/rpc/deliveries.ts";
import { receiversHandlers } from "../src/rpc/receivers.ts";

const MIGRATIONS = join(import.meta.dirname, "../migrations");

export const webhookDatabase = (): Promise<TestDatabase> =>
  createDatabase("webhook_receivers", async (url) => {
    await migrate({ url, schema: "webhook", directory: MIGRATIONS });
  });

export const callContext = (withinMs = 25_000): CallContext => ({
  requestId: "test",
  traceparent: traceparentFrom(undefined),
  deadline: Date.now() + withinMs,
});

export const secretKey = (id: number): SecretKey => ({ id, bytes: randomBytes(32) });

/** Every brand there is, but for those it is told of. */
export class Brands implements KnownBrands {
  readonly unknown = new Set<string>();

  async isKnown(brandId: string): Promise<boolean> {
    return !this.unknown.has(brandId);
  }
}

export const newBrand = (): string => newId("brd");

let made = 0;

/** Of a receiver with a URL nobody else has. */
export const receiverInput = (brand_id: string, more: Partial<CreateReceiverRequest> = {}): CreateReceiverRequest => ({
  brand_id,
  url: `https://hooks.brand.example/events/${(made += 1)}`,
  label: "Ledger",
  events: ["submission.approved", "payout.paid"],
  ...more,
});

export interface ServedReceivers {
  readonly receivers: RpcClient<ReceiversServiceService>;
  readonly deliveriesRpc: RpcClient<DeliveriesServiceService>;
  readonly url: string;
  readonly parts: ReceiverParts;
  readonly brands: Brands;
  /** Connections beside those of the service. */
  readonly db: Database;
  /** Everything that would be written, at the most talkative level. */
  logged(): string;
  create(brandId: string, more?: Partial<CreateReceiverRequest>): Promise<Receiver>;
  get(receiver: Receiver): Promise<Receiver>;
  /** Adds so many, as intake does, but in one statement. */
  addDeliveries(receiver: Pick<Receiver, "id">, count: number): Promise<void>;
  /** How many there are, in whatever state. */
  deliveries(receiver: Pick<Receiver, "id">): Promise<number>;
  stop(): Promise<void>;
}

/** The service over its real gRPC, on a database of its own. */
export async function serveReceivers(
  allowedPorts: readonly number[] = [],
  more: Pick<ReceiverParts, "dropping"> = {},
): Promise<ServedReceivers> {
  const database = await webhookDatabase();
  const db = openPool({ url: database.url, applicationName: "test" });
  const pool = openPool({ url: database.url, applicationName: "webhook" });
  const brands = new Brands();
  const keys: SecretKeys = [secretKey(2), secretKey(1)];
  const parts: ReceiverParts = { db: pool, keys, ports: new Set(allowedPorts), brands, ...more };
  const lines: string[] = [];
  const note = (...line: unknown[]): void => void lines.push(inspect(line, { depth: null, showHidden: true, maxStringLength: null }));
  const log = { trace: note, debug: note, info: note, warn: note, error: note, isLevelEnabled: () => true } as unknown as Logger;
  const server = await serveRpc({
    config: { RPC_HOST: "127.0.0.1", RPC_PORT: 0 },
    services: [
      service(ReceiversServiceService, receiversHandlers(parts)),
      service(DeliveriesServiceService, deliveriesHandlers({ db: pool })),
    ],
    log,
    metrics: openMetrics("webhook"),
  });
  const receivers = connectRpc(ReceiversServiceService, `127.0.0.1:${server.port}`, { idempotent: [] });
  const deliveriesRpc = connectRpc(DeliveriesServiceService, `127.0.0.1:${server.port}`, { idempotent: [] });
  return {
    receivers,
    deliveriesRpc,
    url: database.url,
    parts,
    brands,
    db,
    logged: () => lines.join("\n"),
    async create(brand_id, more) {
      return present((await receivers.createReceiver(receiverInput(brand_id, more), callContext())).receiver);
    },
    async get({ brand_id, id }) {
      return present((await receivers.getReceiver({ brand_id, receiver_id: id }, callContext())).receiver);
    },
    async addDeliveries({ id }, count) {
      await db.query(
        `insert into webhook.deliveries (id, receiver_id, event_id, event_created_at)
         select 'dlv_' || substr(md5($1 || clock_timestamp()::text), 1, 20) || lpad(n::text, 8, '0'), $1, 'evt_' || n, now()
           from generate_series(1, $2::int) n`,
        [id, count],
      );
      await db.query("update webhook.lanes set next_due = now() where receiver_id = $1 and next_due > now()", [id]);
    },
    async deliveries({ id }) {
      const [row] = await db.query<{ count: number }>("select count(*) from webhook.deliveries where receiver_id = $1", [id]);
      return row?.count ?? 0;
    },
    async stop() {
      receivers.stop();
      deliveriesRpc.stop();
      await server.stop();
      await pool.stop();
      await db.stop();
      await database.drop();
    },
  };
}

export function present<T>(value: T | null | undefined): T {
  if (value == null) throw new Error("the answer lacks what was asked for");
  return value;
}
