import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { inspect } from "node:util";
import { noStoredMessages, type DeadLetters } from "@brand-records/event-log";
import { migrate, openPool, type Database } from "@brand-records/postgres";
import {
  DeliveriesServiceService,
  EventsServiceService,
  OperatorServiceService,
  ReceiversServiceService,
  type CreateReceiverRequest,
  type Receiver,
} from "@brand-records/proto/webhook/v1";
import { connectRpc, serveRpc, newCallContext, type CallContext } from "@brand-records/rpc";
import { AuditOutbox } from "@brand-records/service-runtime";
import { openLog, openMetrics, type Logger } from "@brand-records/telemetry";
import { createDatabase, statedGrants, testClient, type TestClient, type TestDatabase } from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import type { SecretKey, SecretKeys } from "../src/domain/secret-keys.ts";
import type { KnownBrands } from "../src/known-brands.ts";
import { rememberBrand } from "../src/storage/brands.ts";
import type { WebhookDependencies } from "../src/dependencies.ts";
import { webhookServices } from "../src/rpc/services.ts";

const MIGRATIONS = join(import.meta.dirname, "../migrations");

export const webhookDatabase = (): Promise<TestDatabase> =>
  createDatabase("webhook_receivers", async (url) => {
    await migrate({ url, schema: "webhook", directory: MIGRATIONS });
  });

export const callContext = (withinMs = 25_000): CallContext => newCallContext(withinMs, "test");

/** The context of a call of a person. @param grant such as `ana@ulap.example owner` */
export const callOf = (grant: string): CallContext => ({ ...callContext(), grants: { webhook: grant } });

/** For use cases that are called without a call. */
export const recordNothing = async (): Promise<void> => {};

export const secretKey = (id: number): SecretKey => ({ id, bytes: randomBytes(32) });

/** Knows every brand but the listed ones. */
export class Brands implements Pick<KnownBrands, "isKnown"> {
  readonly unknown = new Set<string>();
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  async isKnown(brandId: string): Promise<boolean> {
    if (this.unknown.has(brandId)) return false;
    await rememberBrand(this.#db, brandId);
    return true;
  }
}

export const PUBLIC_URL = "https://brand-records.example";

/** Refuses dead letters. */
export const NO_DEAD_LETTERS: DeadLetters = {
  put: () => Promise.reject(new Error("this test adds no dead letters")),
  list: async () => ({ deadLetters: [], total: 0 }),
  count: async () => 0,
  replay: async () => 0,
  remove: async () => 0,
};

export const newBrand = (): string => newId("brd");

let receivers = 0;

/** Returns the input of a receiver with a unique URL. */
export const receiverInput = (brand_id: string, more: Partial<CreateReceiverRequest> = {}): CreateReceiverRequest => ({
  brand_id,
  url: `https://hooks.brand.example/events/${(receivers += 1)}`,
  label: "Ledger",
  events: ["submission.approved", "payout.paid"],
  ...more,
});

export interface ServedReceivers {
  readonly receivers: TestClient<ReceiversServiceService>;
  readonly deliveriesRpc: TestClient<DeliveriesServiceService>;
  readonly eventsRpc: TestClient<EventsServiceService>;
  readonly operator: TestClient<OperatorServiceService>;
  readonly url: string;
  readonly deps: WebhookDependencies;
  readonly brands: Brands;
  /** Connections of the test, in addition to those of the service. */
  readonly db: Database;
  /** Returns everything the service logged, at every level. */
  logged(): string;
  create(brandId: string, more?: Partial<CreateReceiverRequest>): Promise<Receiver>;
  get(receiver: Receiver): Promise<Receiver>;
  /** Adds deliveries as intake does, but in one statement. */
  addDeliveries(receiver: Pick<Receiver, "id">, count: number): Promise<void>;
  /** Counts the unfinished deliveries of a receiver. */
  deliveries(receiver: Pick<Receiver, "id">): Promise<number>;
  stop(): Promise<void>;
}

/** Serves the handlers for all tests of a file. */
export function useReceivers(...options: Parameters<typeof serveReceivers>): ServedReceivers {
  const served = {} as ServedReceivers;
  beforeAll(async () => void Object.assign(served, await serveReceivers(...options)));
  afterAll(() => served.stop());
  return served;
}

/** What requests name a receiver with. */
export const keyOf = ({ brand_id, id }: Pick<Receiver, "brand_id" | "id">) => ({ brand_id, receiver_id: id });

/** Serves the handlers over real gRPC, on a new database. */
export async function serveReceivers(
  allowedPorts: readonly number[] = [],
  more: Pick<WebhookDependencies, "chunks"> = {},
): Promise<ServedReceivers> {
  const database = await webhookDatabase();
  const db = openPool({ url: database.url, applicationName: "test" });
  const pool = openPool({ url: database.url, applicationName: "webhook" });
  const brands = new Brands(db);
  const keys: SecretKeys = [secretKey(2), secretKey(1)];
  const metrics = openMetrics("webhook");
  const accounts = { recordAudit: async () => ({ epoch: "test", refused: [] }) };
  const audit = new AuditOutbox({ schema: "webhook", db: pool, accounts, log: openLog("webhook", "silent"), metrics });
  const deps: WebhookDependencies = {
    db: pool,
    keys,
    ports: new Set(allowedPorts),
    brands,
    audit,
    deadLetters: NO_DEAD_LETTERS,
    messages: noStoredMessages,
    deadlineMs: 15_000,
    publicUrl: PUBLIC_URL,
    headerWord: "Service",
    ...more,
  };
  const lines: string[] = [];
  const append = (...line: unknown[]): void => void lines.push(inspect(line, { depth: null, showHidden: true, maxStringLength: null }));
  const log = { trace: append, debug: append, info: append, warn: append, error: append, isLevelEnabled: () => true } as unknown as Logger;
  const server = await serveRpc({
    config: { RPC_HOST: "127.0.0.1", RPC_PORT: 0, RPC_OPERATOR_WITHOUT_TLS: "true" },
    services: webhookServices(deps),
    log,
    metrics,
    grants: statedGrants,
    audit,
  });
  const clients: { stop(): void }[] = [];
  const callsOf = <Service extends Parameters<typeof connectRpc>[0]>(definition: Service): TestClient<Service> => {
    const client = connectRpc(definition, `127.0.0.1:${server.port}`);
    clients.push(client);
    return testClient<Service>(client, callContext);
  };
  const receivers = callsOf(ReceiversServiceService);
  return {
    receivers,
    deliveriesRpc: callsOf(DeliveriesServiceService),
    eventsRpc: callsOf(EventsServiceService),
    operator: callsOf(OperatorServiceService),
    url: database.url,
    deps,
    brands,
    db,
    logged: () => lines.join("\n"),
    async create(brand_id, more) {
      return present((await receivers.createReceiver(receiverInput(brand_id, more))).receiver);
    },
    async get(receiver) {
      return present((await receivers.getReceiver(keyOf(receiver))).receiver);
    },
    async addDeliveries({ id }, count) {
      await db.query(
        `insert into webhook.deliveries (id, receiver_id, event_id, event_created_at, event_type)
         select 'dlv_' || substr(md5($1 || clock_timestamp()::text), 1, 20) || lpad(n::text, 8, '0'), $1, 'evt_' || n, now(), 'payout.paid'
           from generate_series(1, $2::int) n`,
        [id, count],
      );
      await db.query("update webhook.lanes set next_due = '-infinity' where receiver_id = $1", [id]);
    },
    async deliveries({ id }) {
      const [row] = await db.query<{ count: number }>("select count(*) from webhook.deliveries where receiver_id = $1", [id]);
      return row?.count ?? 0;
    },
    async stop() {
      for (const client of clients) client.stop();
      await server.stop();
      await audit.stop();
      await pool.stop();
      await db.stop();
      await database.drop();
    },
  };
}

export function present<T>(value: T | null | undefined): T {
  if (value == null) throw new Error("the value is missing");
  return value;
}
