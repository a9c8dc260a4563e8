import { randomUUID } from "node:crypto";
import { unnestRows } from "@brand-records/postgres";
import { openMaintenance } from "@brand-records/service-runtime";
import { openLog, openMetrics } from "@brand-records/telemetry";
import { eventually } from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import { expectRefusal, servedAccounts, type TestBrand } from "../test/serve-accounts.ts";
import { peopleOf } from "../test/people.ts";
import { FAILURES_KEEP_DAYS, FAILURES_PER_BRAND_MAX } from "./domain/failed-requests.ts";
import { startJanitor } from "./janitor.ts";

/** One promise: what is kept no longer is deleted, by any number of processes at once, and nothing else. */

const AUDIT_KEEP_DAYS = 730;
const USAGE_KEEP_DAYS = 31;
/** More than the janitor deletes with two statements. */
const MANY = 2_500;
/** What a janitor deletes. */
const TASKS = 12;

const served = servedAccounts();
const people = peopleOf(served);
let brand: TestBrand;
let email: string;

beforeEach(async () => {
  ({ brand, email } = await people.newPerson());
});

/** Runs the janitors of two processes until each has done every task once. */
async function clean(): Promise<void> {
  const janitors = [1, 2].map(() => {
    const metrics = openMetrics("accounts");
    const janitor = startJanitor({
      db: served.db,
      maintenance: openMaintenance(openLog("accounts", "silent"), metrics),
      sessionLimits: { idleSeconds: 7_200, maxSeconds: 43_200 },
      auditKeepDays: AUDIT_KEEP_DAYS,
      usageKeepDays: USAGE_KEEP_DAYS,
      requestsKeepHours: 24,
    });
    return { janitor, metrics };
  });
  try {
    for (const { metrics } of janitors) {
      await eventually(async () => {
        const succeeded = (await metrics.metrics()).match(/^maintenance_last_success_timestamp_seconds\{.*\} [1-9]/gm);
        expect(succeeded).toHaveLength(TASKS);
      });
    }
  } finally {
    await Promise.all(janitors.map(({ janitor }) => janitor.stop()));
  }
}

interface OldEntry {
  readonly id: string;
  readonly brand_id: string;
  readonly action: string;
  /** Age. */
  readonly days: number;
  /** Days since its outcome; null without one. */
  readonly finished: number | null;
}

const ENTRIES = unnestRows({ id: "text", brand_id: "text", action: "text", days: "int", finished: "int null" }, { as: "e" });

/** Writes entries, cleans, and returns those that are still there. */
async function leftOf(rows: readonly OldEntry[]): Promise<OldEntry[]> {
  await served.db.query(
    `insert into accounts.audit_entries (id, brand_id, action, fields, request_id, created_at, outcome, finished_at)
     select id, brand_id, action, '{}', 'r', now() - make_interval(days => days),
            case when finished is not null then 'done' end, now() - make_interval(days => finished)
       from ${ENTRIES.relation}`,
    ENTRIES.values(rows),
  );
  await clean();
  const found = await served.db.query<{ id: string }>("select id from accounts.audit_entries");
  const ids = new Set(found.map(({ id }) => id));
  return rows.filter(({ id }) => ids.has(id));
}

it("sessions that have ended", async () => {
  const [kept, ended] = [await people.session(email), await people.session(email)];
  await people.moveBack("sessions", "created_at", ended, 43_201);
  await clean();
  await people.get(kept);
  const sessions = await served.db.query("select token_hash from accounts.sessions where email = $1", [email]);
  expect(sessions).toEqual([{ token_hash: people.hashOf(kept) }]);
});

it("sign-in links a week after they have expired; until then they are known as expired", async () => {
  const [recent, old] = [await people.link(email), await people.link(email)];
  await people.moveBack("sign_in_links", "expires_at", recent, 6 * 86_400);
  await people.moveBack("sign_in_links", "expires_at", old, 8 * 86_400);
  await clean();
  await expectRefusal(people.peek(recent), "sign_in_link_expired");
  await expectRefusal(people.peek(old), "sign_in_link_unknown");
});

it("mail of two days ago, sent or not", async () => {
  await served.db.query(
    `insert into accounts.mails (brand_id, email, subject, id, action, subject_id, happened_at, due_at)
     select $1, $2, 'keys', 'aud_' || hours, 'key.create', 'key_1', now() - make_interval(hours => hours), case when hours % 2 = 0 then now() end
       from (values (1), (47), (49), (50)) h(hours)`,
    [brand.id, email],
  );
  await clean();
  const left = await served.db.query("select id from accounts.mails where email = $1 order by id", [email]);
  expect(left).toEqual([{ id: "aud_1" }, { id: "aud_47" }]);
});

it("used ID tokens that no process accepts any more, in several batches", async () => {
  const count = () =>
    served.db.query(
      `select count(*) filter (where expires_at > now()) as kept, count(*) filter (where expires_at <= now()) as expired
         from accounts.used_id_tokens`,
    );
  await served.db.query(
    `insert into accounts.used_id_tokens (token_hash, expires_at)
     select sha256(n::text::bytea), now() + case when n = 0 then interval '1 minute' else - interval '1 second' end from generate_series(0, $1) n`,
    [MANY],
  );
  expect(await count()).toEqual([{ kept: 1, expired: MANY }]);
  await clean();
  expect(await count()).toEqual([{ kept: 1, expired: 0 }]);
});

it("audit entries after two years, in several batches", async () => {
  const entry = (days: number): OldEntry => ({ id: newId("aud"), brand_id: brand.id, action: "key.create", days, finished: null });
  const kept = entry(AUDIT_KEEP_DAYS - 1);
  const entries = [...Array.from({ length: MANY }, () => entry(AUDIT_KEEP_DAYS + 1)), kept];
  expect(await leftOf(entries)).toEqual([kept]);
});

it("the deletion of a brand two years after its end, and an unfinished one never", async () => {
  const entry = (finished: number | null): OldEntry => {
    return { id: newId("aud"), brand_id: newId("brd"), action: "brand.delete", days: 900, finished };
  };
  const [recent, old, unfinished] = [entry(AUDIT_KEEP_DAYS - 1), entry(AUDIT_KEEP_DAYS + 1), entry(null)];
  expect(await leftOf([recent, old, unfinished])).toEqual([recent, unfinished]);
});

it("counts of requests after 31 days in several batches, and the batches of gateways after two", async () => {
  await served.db.query(
    `insert into accounts.usage_minutes (brand_id, minute, key_id, accepted, refused)
     select $1, date_trunc('minute', now(), 'UTC') - make_interval(days => $2, mins => n), 'key_1', 1, 0 from generate_series(1, $3) n`,
    [brand.id, USAGE_KEEP_DAYS + 1, MANY],
  );
  const { id: key_id } = await served.createKey(brand);
  const usage = { brand_id: brand.id, key_id, minute: new Date().toISOString(), accepted: 1, refused: 0 };
  const [batch_id, oldBatch] = [randomUUID(), randomUUID()];
  const today = new Date(Date.now() + 8 * 3_600_000).toISOString().slice(0, 10);
  const client = { brand_id: brand.id, key_id, day: today, name: "claude-code", messages: 1, connecting: 0 };
  await served.usage.recordUsage({ batch_id, minutes: [usage], clients: [client], failures: [], requests: [] });
  await served.db.query(
    `insert into accounts.usage_clients (brand_id, day, key_id, name, messages)
     select $1, $2::date - $3::int, 'key_1', 'client ' || n, 1 from generate_series(1, $4) n`,
    [brand.id, today, USAGE_KEEP_DAYS + 1, MANY],
  );
  await served.db.query("insert into accounts.usage_batches (id, recorded_at) values ($1, now() - interval '49 hours')", [oldBatch]);
  await clean();
  expect(await served.db.query("select key_id from accounts.usage_minutes where brand_id = $1", [brand.id])).toEqual([{ key_id }]);
  expect(await served.db.query("select key_id from accounts.usage_clients where brand_id = $1", [brand.id])).toEqual([{ key_id }]);
  const batches = await served.db.query("select id from accounts.usage_batches where id = any($1::uuid[])", [[batch_id, oldBatch]]);
  expect(batches).toEqual([{ id: batch_id }]);
});

it("the last requests of a brand after a day", async () => {
  await served.db.query(
    `insert into accounts.recent_requests (brand_id, until, recorded_at, requests)
     select $1, n, now() - make_interval(hours => case when n <= $2 then 24 else 23 end), '' from generate_series(1, $2 + 1) n`,
    [brand.id, MANY],
  );
  await clean();
  const left = await served.db.query("select until from accounts.recent_requests where brand_id = $1", [brand.id]);
  expect(left).toEqual([{ until: MANY + 1 }]);
});

it("counts of failed requests after seven days, and the oldest of a brand that has more than it keeps", async () => {
  const add = (days: number, count: number) =>
    served.db.query(
      `insert into accounts.failed_requests (brand_id, minute, key_id, route, code, field, requests, request_ids)
       select $1, date_trunc('minute', now(), 'UTC') - make_interval(days => $2, mins => n / 10), 'key_' || n % 10, 'GET /api/v1/payouts', 'rate_limited',
              '', 1, '{}' from generate_series(0, $3 - 1) n`,
      [brand.id, days, count],
    );
  await add(FAILURES_KEEP_DAYS + 1, MANY);
  await add(0, FAILURES_PER_BRAND_MAX + 500);
  await clean();
  const kept = await served.db.query(
    `select count(*) as count, count(*) filter (where minute < now() - make_interval(days => $2)) as old
       from accounts.failed_requests where brand_id = $1`,
    [brand.id, FAILURES_KEEP_DAYS],
  );
  expect(kept).toEqual([{ count: FAILURES_PER_BRAND_MAX, old: 0 }]);
});
