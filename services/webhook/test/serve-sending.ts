import { openPool, type Database } from "@brand-records/postgres";
import { openLog, openMetrics, type Logger } from "@brand-records/telemetry";
import { idSequence, newId } from "@brand-records/ids";
import { RETRY_DELAYS_SECONDS } from "../src/domain/retry-schedule.ts";
import type { SecretKeys } from "../src/domain/secret-keys.ts";
import { newSigningSecret, sealSigningSecret } from "../src/domain/signing-secret.ts";
import { ReceiverAgent, type ReceiverAgentOptions } from "../src/sending/receiver-agent.ts";
import { Sender, type SenderOptions } from "../src/sending/sender.ts";
import { sendingMetrics } from "../src/sending/sending-metrics.ts";
import { ensureDays } from "../src/storage/daily-partitions.ts";
import { insertEvents } from "../src/storage/events.ts";
import { addFirstAttempts } from "../src/storage/first-attempts.ts";
import { lockLanesSelecting, wakeLanes } from "../src/storage/lanes.ts";
import { secretKey, webhookDatabase } from "./serve-receivers.ts";

const nextDelivery = idSequence("dlv");
const nextEvent = idSequence("evt");

export interface MadeReceiver {
  readonly id: string;
  readonly brand: string;
  readonly secret: string;
}

export interface NewTestEvent {
  readonly id: string;
  readonly created_at: string;
}

export interface AttemptRow {
  readonly attempt: number;
  readonly outcome: string;
  readonly http_status: number | null;
  readonly error: string | null;
  readonly response: Buffer | null;
}

/** The sending half of the service on a new database. Receivers on loopback are allowed by default. */
export interface ServedSending {
  readonly db: Database;
  readonly databaseUrl: string;
  readonly keys: SecretKeys;
  start(options?: Partial<SenderOptions>, agent?: Partial<ReceiverAgentOptions>): Sender;
  createReceiver(url: string, more?: { brand?: string; maxInFlight?: number }): Promise<MadeReceiver>;
  /** Adds events of one record, in order, each with a delivery to each of these receivers of one brand. */
  deliver(receivers: readonly MadeReceiver[], count?: number): Promise<NewTestEvent[]>;
  attemptsOf(receiver: MadeReceiver): Promise<AttemptRow[]>;
  /** Stops what was started, and empties the database. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Serves sending for the tests of a file, each on the same database, which is empty when the test begins. What a test has started is stopped
 * before the next one: end the attempts that hang, by stopping their receivers, in `afterEach`.
 */
export function useSending(log?: Logger): ServedSending {
  const sending = {} as ServedSending;
  beforeAll(async () => void Object.assign(sending, await serveSending(log)));
  beforeEach(() => sending.reset());
  afterAll(() => sending.stop());
  return sending;
}

const EMPTY = ["replays", "attempt_hours", "attempts", "past_deliveries", "deliveries", "events", "lanes", "receivers", "brands"]
  .map((table) => `delete from webhook.${table};`)
  .join("");

const DAY_MS = 86_400_000;

export async function serveSending(log: Logger = openLog("webhook", "silent")): Promise<ServedSending> {
  const database = await webhookDatabase();
  const db = openPool({ url: database.url, applicationName: "sending test" });
  const keys: SecretKeys = [secretKey(1)];
  const days = [0, DAY_MS].map((later) => new Date(Date.now() + later).toISOString().slice(0, 10));
  await ensureDays(db, days);
  const running: { stop(): Promise<void> }[] = [];
  const stopRunning = async (): Promise<void> => {
    for (const each of running.splice(0).toReversed()) await each.stop();
  };
  return {
    db,
    databaseUrl: database.url,
    keys,
    start(options = {}, agentOptions = {}) {
      const agent = new ReceiverAgent({ allowLoopback: true, connectionsMax: 1_000, ...agentOptions });
      const sender = new Sender({
        db,
        clock: Date,
        keys,
        agent,
        metrics: sendingMetrics(openMetrics("webhook")),
        log,
        inFlightMax: 1_000,
        deadlineMs: 15_000,
        retryDelaysSeconds: RETRY_DELAYS_SECONDS,
        publicUrl: "https://brand-records.example",
        headerWord: "Service",
        ...options,
      });
      running.push(agent, sender);
      return sender;
    },
    async createReceiver(url, { brand = newId("brd"), maxInFlight = 64 } = {}) {
      const id = newId("rcv");
      const secret = newSigningSecret();
      const { sealed, keyId } = sealSigningSecret(keys[0], id, secret);
      await db.query("insert into webhook.brands (brand_id) values ($1) on conflict do nothing", [brand]);
      await db.query(
        `insert into webhook.receivers (brand_id, id, url, label, events, secret, secret_key_id, max_in_flight)
         values ($1, $2, $3, 'Test', array['submission.approved'], $4, $5, $6)`,
        [brand, id, url, sealed, keyId, maxInFlight],
      );
      await db.query("insert into webhook.lanes (receiver_id, max_in_flight) values ($1, least(8, $2::int))", [id, maxInFlight]);
      return { id, brand, secret };
    },
    async deliver(receivers, count = 1) {
      const brand_id = receivers[0]?.brand ?? "";
      const events = Array.from({ length: count }, (_, index) => ({
        id: nextEvent(),
        created_at: new Date().toISOString(),
        brand_id,
        type: "submission.approved",
        data: JSON.stringify({ resource: "submissions", id: "sub_1", number: index }),
        traceparent: null,
      }));
      await db.transaction(async (sql) => {
        await lockLanesSelecting(sql, [brand_id], ["submission.approved"]);
        await insertEvents(sql, events);
        const deliveries = events.flatMap(({ id: event_id, created_at: event_created_at, type: event_type }) =>
          receivers.map(({ id: receiver_id }) => ({
            id: nextDelivery(),
            receiver_id,
            event_id,
            event_created_at,
            event_type,
            lease: null,
          })),
        );
        await addFirstAttempts(sql, deliveries, 0);
        await wakeLanes(
          sql,
          receivers.map(({ id }) => id),
        );
      });
      return events;
    },
    attemptsOf: ({ id }) =>
      db.query(
        `select attempt, outcome, http_status, error, response
           from (select delivery_id, attempt, outcome, http_status, error, response from webhook.attempts
                  where delivery_id in (select id from webhook.deliveries where receiver_id = $1
                                        union select id from webhook.past_deliveries where receiver_id = $1)
                 union all
                 select id, attempts, outcome, http_status, error, response from webhook.past_deliveries
                  where receiver_id = $1 and attempt_id is not null) a
          order by delivery_id, attempt`,
        [id],
      ),
    async reset() {
      await stopRunning();
      await db.query(EMPTY);
      await ensureDays(db, days);
    },
    async stop() {
      await stopRunning();
      await db.stop();
      await database.drop();
    },
  };
}
