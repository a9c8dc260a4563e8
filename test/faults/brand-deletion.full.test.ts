import type { ChildProcess } from "node:child_process";
import { openPool, type Database } from "@brand-records/postgres";
import { eventually, startRedisServer, type RedisServer, type ServiceProcess } from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import { startClients, type RunningClients } from "../clients-in-turn.ts";
import { addressSettings, brandctl, type Ended } from "../command-line.ts";
import { startFakeReceivers, type FakeReceivers } from "../fake-receivers.ts";
import { publishToKafka } from "../kafka.ts";
import { postPlan } from "../plan-input.ts";
import { callContext, startStack, type Stack, type TestBrand } from "../stack.ts";
import { messagesWith, redisKeysWith, rowsWith } from "./brand-traces.ts";

/**
 * One promise: a brand is deleted completely, whatever is in use and interrupted. Its keys are in use, its deliveries under way, and the
 * command is killed twice; another brand notices nothing.
 */

const RECORDS = 1_000_000;
const OTHERS_RECORDS = 20_000;
const CHANGES = 400;
const BROKERS = process.env["TEST_KAFKA_BROKERS"] ?? "";
const EVENTS = ["submission.approved", "submission.rejected"];

/** Receivers by number. */
const [ACCEPTING, HANGING, OTHERS] = [1, 2, 3];

let redis: RedisServer;
let stack: Stack;
let secondWebhook: ServiceProcess;
let receivers: FakeReceivers;
let db: Database;
let brand: TestBrand;
let other: TestBrand;
const running: ChildProcess[] = [];

beforeAll(async () => {
  redis = await startRedisServer();
  receivers = await startFakeReceivers((receiver) => (receiver === HANGING ? "hang" : "accepted"));
  stack = await startStack({
    redisUrl: redis.url,
    kafkaBrokers: BROKERS,
    env: {
      RATE_LIMIT_PLUS: "100000",
      RECEIVERS_ON_LOOPBACK: "true",
      DELIVERY_DEADLINE_MS: "3000",
      LOG_LEVEL: "info",
      USAGE_FLUSH_SECONDS: "1",
      // A million rows are written and deleted beside the requests.
      REQUEST_DEADLINE_MS: "25000",
    },
  });
  secondWebhook = await stack.startAnother("webhook");
  db = openPool({ url: stack.databaseUrl, applicationName: "brand deletion test", max: 4, statementTimeoutMs: 120_000 });
  [brand, other] = [await stack.createBrand({ permissions: ["campaigns:prepare"] }), await stack.createBrand()];
});
afterAll(async () => {
  for (const child of running) child.kill("SIGKILL");
  await db.stop();
  await secondWebhook.kill("SIGKILL");
  await stack.stop();
  await receivers.stop();
  await redis.stop();
});

const insertRecords = async (brandId: string, count: number): Promise<void> => {
  const common = `$1, 'PREFIX_' || lpad(i::text, 26, '0'), '2026-11-01'::timestamptz + i * interval '1 second', '2026-11-20'::timestamptz, 'cmp_1', 'crt_1'`;
  const ofPrefix = (prefix: string): string => common.replace("PREFIX", prefix);
  const half = Math.ceil(count / 2);
  await Promise.all([
    db.query(
      `insert into records.submissions (brand_id, id, created_at, updated_at, campaign_id, creator_id, status, platform, content_url,
                                        earned_centavos, currency, submitted_at)
       select ${ofPrefix("sub")}, 'pending', 'tiktok', 'https://video.example/1', 100, 'PHP', '2026-11-01' from generate_series(1, $2::int) i`,
      [brandId, half],
    ),
    db.query(
      `insert into records.payouts (brand_id, id, created_at, updated_at, campaign_id, creator_id, status, amount_centavos, fee_centavos, currency,
                                    submission_count, conversion_count)
       select ${ofPrefix("po")}, 'pending', 100, 1, 'PHP', 1, 0 from generate_series(1, $2::int) i`,
      [brandId, count - half],
    ),
  ]);
};

const addReceiver = async (brandOf: TestBrand, number: number): Promise<string> =>
  (await stack.addReceiver(brandOf, receivers.urlOf(number), EVENTS)).id;

/** Each change is an event. */
const change = (brandId: string, from: number, to: number): Promise<unknown> =>
  db.query(
    `update records.submissions set status = 'approved', reviewed_at = now()
      where brand_id = $1 and id between 'sub_' || lpad($2::text, 26, '0') and 'sub_' || lpad($3::text, 26, '0')`,
    [brandId, from, to],
  );

const count = async (query: string, brandId: string): Promise<number> => {
  const [row] = await db.query<{ n: number }>(`select count(*) as n from ${query}`, [brandId]);
  return row?.n ?? 0;
};

const publish = (values: readonly string[]): Promise<void> =>
  publishToKafka(
    BROKERS,
    stack.topic,
    values.map((value) => ({ key: "sub_1", value })),
  );

interface DeletionResult {
  readonly deleted: { readonly rows_of_this_run: Record<string, number>; readonly log: object; readonly redis_expires: boolean };
}

function startDeletion(): { readonly child: ChildProcess; readonly ended: Promise<Ended> } {
  const args = ["brands", "delete", brand.id, "--confirm", `Brand ${brand.id}`, "--yes", "--json"];
  const ended = brandctl(args, { env: addressSettings(stack.addresses), onStart: (child) => running.push(child) });
  return { child: running.at(-1) as ChildProcess, ended };
}

/** Sends requests with a key until stopped, one after another. */
const useKey = (key: string): RunningClients<{ status: number; startedAt: number }> =>
  startClients(1, async () => {
    const startedAt = performance.now();
    const response = await stack.get("/api/v1/links", key);
    await response.arrayBuffer();
    return { status: response.status, startedAt };
  });

const recordsDelivered = (number: number): Set<string> =>
  new Set(receivers.arrivals.filter(({ receiver }) => receiver === number).map(({ record }) => record));

/** What the other brand has, but for what its own changes add. */
const othersState = (): Promise<object[]> =>
  db.query(
    `select (select count(*) || md5(string_agg(t::text, '' order by id)) from records.payouts t where brand_id = $1) as payouts,
            (select count(*) from records.submissions where brand_id = $1) as submissions,
            (select md5(string_agg((b.id, b.name, b.tier, b.verified)::text, '')) from accounts.brands b where id = $1) as brand,
            (select md5(string_agg(k::text, '')) from (select id, key_hash, revoked_at from accounts.keys where brand_id = $1) k) as keys,
            (select md5(string_agg(m::text, '' order by email)) from accounts.members m where brand_id = $1) as members,
            (select md5(string_agg(r::text, '')) from webhook.receivers r where brand_id = $1) as receivers`,
    [other.id],
  );

it("leaves one entry of the audit log of a brand of 1,000,000 records that is in use, and nothing else", async () => {
  await Promise.all([insertRecords(brand.id, RECORDS), insertRecords(other.id, OTHERS_RECORDS)]);
  const shared = "shared@people.example";
  for (const { id } of [brand, other]) await stack.accounts.addMember({ brand_id: id, email: shared, role: "member" }, callContext());
  const [ownersSession, sharedSession] = [await stack.newSession(brand.owner), await stack.newSession(shared)];
  const [accepting] = [await addReceiver(brand, ACCEPTING), await addReceiver(brand, HANGING), await addReceiver(other, OTHERS)];
  expect((await postPlan(stack.url, brand.key)).status).toBe(201);
  await change(brand.id, 1, CHANGES);
  // Dead letters of both brands, and of none.
  await publish([`{"brand_id":"${brand.id}"}`, `{"brand_id":"${other.id}"}`, "not JSON"]);
  await eventually(async () => expect((await stack.events.listDeadLetters({ page_size: 10 }, callContext())).total).toBe(3), {
    timeoutMs: 90_000,
  });
  await eventually(async () => expect(await count("webhook.past_deliveries where brand_id = $1", brand.id)).toBe(CHANGES), {
    timeoutMs: 180_000,
  });
  await eventually(() => expect(receivers.hanging).toBeGreaterThan(0));
  await stack.deliveries.replayEvents(
    { brand_id: brand.id, receiver_id: accepting, since: "2026-11-01T00:00:00.000Z", failed_only: false },
    callContext(),
  );
  const before = await othersState();

  const [use, othersUse] = [useKey(brand.key), useKey(other.key)];
  let othersChanges = 0;
  let isChanging = true;
  const changing = (async () => {
    while (isChanging) {
      othersChanges += 1;
      await change(other.id, othersChanges, othersChanges);
      await eventually(() => expect(recordsDelivered(OTHERS).size).toBe(othersChanges), { timeoutMs: 180_000 });
    }
  })();
  await eventually(() => expect(use.results.length).toBeGreaterThan(20), { timeoutMs: 180_000 });

  // Killed as soon as webhook has closed the brand: the keys are refused by then.
  const first = startDeletion();
  await eventually(
    async () => expect(await count("webhook.brands where brand_id = $1 and deletion_started_at is null", brand.id)).toBe(0),
    {
      everyMs: 5,
      timeoutMs: 90_000,
    },
  );
  first.child.kill("SIGKILL");
  const closedAt = performance.now();
  await first.ended;
  // A process with attempts in flight dies, too. Events that are in the outbox now reach the log during the deletion.
  await secondWebhook.kill("SIGKILL");
  await change(brand.id, CHANGES + 1, CHANGES + 200);

  // Killed among the records.
  const second = startDeletion();
  await eventually(
    async () => expect(await count("records.submissions where brand_id = $1", brand.id)).toBeLessThan(RECORDS / 2 - 20_000),
    {
      everyMs: 50,
      timeoutMs: 180_000,
    },
  );
  second.child.kill("SIGKILL");
  await second.ended;
  expect(await count("records.payouts where brand_id = $1", brand.id)).toBeGreaterThan(0);
  await stack.processes.webhook.kill("SIGTERM");
  await stack.restart("webhook");

  const { code, stdout, stderr } = await startDeletion().ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { deleted } = JSON.parse(stdout) as DeletionResult;
  expect(deleted).toMatchObject({ redis_expires: false, log: { cleared: true, dead_letters: 1, behind: [] } });

  isChanging = false;
  await changing;
  for (const each of [use, othersUse]) await each.stop();
  const statusesOf = (statuses: typeof use.results): number[] => [...new Set(statuses.map(({ status }) => status))];
  expect(statusesOf(use.results.filter(({ startedAt }) => startedAt > closedAt))).toEqual([401]);
  expect(statusesOf(use.results)).toEqual([200, 401]);
  expect(statusesOf(othersUse.results)).toEqual([200]);

  // The search. The entry itself must not name a person or the brand.
  const entries = await db.query<object>("select * from accounts.audit_entries where brand_id = $1", [brand.id]);
  expect(entries).toEqual([
    expect.objectContaining({ action: "brand.delete", subject_id: brand.id, actor: null, address: null, fields: [], outcome: "done" }),
  ]);
  expect((await rowsWith(db, brand.id)).map(({ table }) => table)).toEqual(["accounts.audit_entries"]);
  expect(await rowsWith(db, brand.owner)).toEqual([]);
  // What accounts needs to notice a restore.
  expect(await redisKeysWith(redis.url, brand.id)).toEqual(["committed:epochs"]);
  expect(await redisKeysWith(redis.url, brand.keyId)).toEqual([]);
  expect(await messagesWith(BROKERS, stack.topic, brand.id)).toEqual([]);

  // The owner was a member of this brand only; the other member still is one of the other brand.
  await expect(stack.sessions.getSession({ token: ownersSession }, callContext())).rejects.toMatchObject({ kind: "invalid_session" });
  const { memberships } = await stack.sessions.getSession({ token: sharedSession }, callContext());
  expect(memberships.map(({ brand_id }) => brand_id)).toEqual([other.id]);

  // The other brand: its data, its dead letter, and a delivery of each of its changes.
  expect(await othersState()).toEqual(before);
  expect(othersChanges).toBeGreaterThan(10);
  expect(recordsDelivered(OTHERS).size).toBe(othersChanges);
  expect((await stack.events.listDeadLetters({ page_size: 10 }, callContext())).total).toBe(2);

  // An event that arrives later is dropped, and none becomes a dead letter. The id is not used again.
  const at = Date.now();
  const late = { id: newId("evt", at), type: "submission.approved", created_at: new Date(at).toISOString(), brand_id: brand.id };
  const data = { resource: "submissions", id: "sub_1", campaign_id: "cmp_1", status: "approved", previous_status: "pending" };
  const amounts = { earned_centavos: 1, currency: "PHP", rejection_code: null, reviewed_at: late.created_at, updated_at: late.created_at };
  await publish([JSON.stringify({ ...late, data: { ...data, ...amounts } })]);
  await eventually(() => expect(stack.processes.webhook.output()).toContain("messages of deleted brands dropped"));
  expect((await stack.events.listDeadLetters({ page_size: 10 }, callContext())).total).toBe(2);
  const again = { id: brand.id, name: `Brand ${brand.id}`, tier: "plus", verified: true };
  await expect(stack.accounts.createBrand(again, callContext())).rejects.toMatchObject({ kind: "already_exists" });
  expect((await rowsWith(db, brand.id)).map(({ table }) => table)).toEqual(["accounts.audit_entries"]);
}, 900_000);
