import type { Sql } from "@brand-records/postgres";
import type { PlannedEntry } from "@brand-records/rpc";
import { countBuffers } from "@brand-records/testkit";
import { servedAccounts, type TestBrand } from "../../test/serve-accounts.ts";
import { type AuditFilter, scopeOf } from "../domain/audit-entry.ts";
import { FAILURES_PER_BRAND_MAX } from "../domain/failed-requests.ts";
import { pageToken } from "../domain/page-token.ts";
import { deleteOldAuditEntries } from "../storage/audit-entries.ts";
import { pageOfSettledEntries } from "../storage/audit-export.ts";
import { addRecentRequests, deleteOldRequests } from "../storage/recent-requests.ts";
import { listAudit, recordForBrands } from "./audit.ts";
import { findBrandOfKey, keysOf } from "./keys.ts";
import { listMemberships, membersOf } from "./members.ts";
import { getUsage, listFailedRequests, listRequests } from "./usage.ts";

/** One promise: what is read of accounts takes few blocks, however many brands there are. */

const OTHER_BRANDS = 500;
const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;
/**
 * Blocks that a page's call may read. Most read a hundred. A filter of the audit log that few entries match reads the brand's whole log, and failed
 * requests are added up from every count of a week.
 */
const BUFFERS_MAX = 6_000;

const END = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
const daysAgo = (days: number): string => new Date(END - days * DAY_MINUTES * MINUTE_MS).toISOString();

const served = servedAccounts();
let brand: TestBrand;
let keyId: string;

beforeAll(async () => {
  brand = await served.createBrand();
  ({ id: keyId } = await served.createKey(brand));
  await fill();
  await served.db.query("update accounts.audit_epoch set announced_until = now() + interval '1 day'");
  await served.db.query("vacuum analyze");
}, 120_000);

/** SQL of the rows of a table: the brand's and each other brand's, with their number and how old they are, in the order in which they are written. */
const rows = (ours: number, theirs: number): string => `(
  select *, age * $3::int as minutes from (
    select $1::text as brand_id, n, n::float8 / ${ours} as age from generate_series(1, ${ours}) n
    union all select 'brd_' || b, n, n::float8 / ${theirs} from generate_series(1, $2::int) b, generate_series(1, ${theirs}) n) r
  order by age desc) r`;

async function fill(): Promise<void> {
  const { db } = served;
  const insert = (into: string, ours: number, theirs: number, columns: string, days: number): Promise<unknown> =>
    // More rows than a busy machine writes in the time of a statement.
    db.transaction(
      (sql) =>
        sql.query(`insert into accounts.${into} select ${columns} from ${rows(ours, theirs)}`, [
          brand.id,
          OTHER_BRANDS,
          days * DAY_MINUTES,
          new Date(END).toISOString(),
        ]),
      { statementTimeoutMs: 60_000 },
    );
  const at = "($4::timestamptz - make_interval(mins => r.minutes::int))";
  await db.query(
    "insert into accounts.brands (id, name, tier, verified) select 'brd_' || n, 'Brand', 'plus', true from generate_series(1, $1::int) n",
    [OTHER_BRANDS],
  );
  await insert("members (brand_id, email, role, created_at)", 50, 3, `brand_id, 'm' || n || '@brand.example', 'member', ${at}`, 700);
  // One of 40 is not revoked.
  await insert(
    "keys (id, brand_id, environment, name, permissions, hint, pepper_version, key_hash, created_by, created_at, last_used_at, revoked_at, revoked_by)",
    4_000,
    3,
    `'key_' || substr(brand_id, 5) || 'x' || n, brand_id, 'live', 'Reports', '{}', 'abcd', 1, sha256((brand_id || n)::bytea), 'm1@brand.example', ${at}, $4,
     case when n % 40 > 0 then $4::timestamptz end, case when n % 40 > 0 then 'm1@brand.example' end`,
    700,
  );
  // Most entries are sign-ins; few are of one person, through another's links, and about keys.
  await insert(
    "audit_entries (id, brand_id, actor, action, subject_id, fields, request_id, address, created_at, outcome, finished_at, via, browser)",
    20_000,
    200,
    `'aud_' || substr(brand_id, 5) || 'x' || lpad(n::text, 6, '0'), brand_id, case when n % 10 > 0 then 'm' || n % 10 || '@brand.example' end,
     case when n % 1000 = 0 then 'key.create' else 'session.sign_in' end, 'm1@brand.example', '{}', gen_random_uuid()::text, '203.0.113.7', ${at}, 'done', ${at},
     case when n % 500 = 1 then 'rare@brand.example' end, 'Firefox'`,
    700,
  );
  // Three keys, each with requests in every minute of a week.
  await insert(
    "usage_minutes (brand_id, minute, key_id, accepted, refused)",
    3 * 7 * DAY_MINUTES,
    300,
    `brand_id, case when brand_id = $1 then $4::timestamptz - make_interval(mins => n / 3) else ${at} end, 'key_' || n % 3, 10, 1`,
    7,
  );
  await insert(
    "usage_clients (brand_id, day, key_id, name, messages)",
    30 * 3 * 20,
    30,
    `brand_id, (${at})::date - (n % 30), 'key_' || n / 30 % 3, 'client ' || n / 90, 5`,
    0,
  );
  await insert(
    "failed_requests (brand_id, minute, key_id, route, code, field, requests, request_ids)",
    FAILURES_PER_BRAND_MAX,
    200,
    `brand_id, ${at}, 'key_' || n % 3, 'GET /api/v1/payouts', 'invalid_parameter', 'kind_' || chr(97 + n % 20), 3, array[md5(n::text), n::text, 'b']`,
    7,
  );
  // A request in a batch, as of a brand that does little: the most rows that a brand can have.
  await insert("recent_requests (brand_id, until, recorded_at, requests)", 1_000, 100, `brand_id, n, $4::timestamptz, ''`, 0);
}

const NO_FILTER = { actor: null, action: null, from: null, to: null };
const audit =
  (filter: Partial<AuditFilter>, after?: string) =>
  (sql: Sql): Promise<unknown> => {
    const asked = { brandId: brand.id, ...NO_FILTER, ...filter };
    return listAudit(sql, asked, 50, after === undefined ? null : pageToken(scopeOf(asked), [after, "aud_0"]));
  };
const usage =
  (days: number, bucket_minutes: number, by_key: boolean) =>
  (sql: Sql): Promise<unknown> =>
    getUsage(sql, { brand_id: brand.id, from: daysAgo(days), to: daysAgo(-1), bucket_minutes, by_key, by_client: by_key });
const failed =
  (filter: { readonly key_id?: string; readonly code?: string }) =>
  (sql: Sql): Promise<unknown> => {
    const query = { brand_id: brand.id, from: daysAgo(7), to: daysAgo(-1), bucket_minutes: 120 };
    return listFailedRequests(sql, { ...query, ...filter });
  };

const ENTRY: PlannedEntry = {
  action: "key.create",
  brand_id: undefined,
  actor: "m1@brand.example",
  via: null,
  subject_id: "key_1",
  fields: [],
  role: null,
  request_id: "r1",
  address: null,
  browser: null,
};

const CALLS: [string, (sql: Sql) => Promise<unknown>][] = [
  ["the audit log", audit({})],
  ["a later page of it", audit({}, daysAgo(600))],
  ["its entries of a person who did much", audit({ actor: "m1@brand.example" })],
  ["those of a person who did little, through links", audit({ actor: "rare@brand.example" })],
  ["those of a person who did nothing", audit({ actor: "idle@brand.example" })],
  ["those of the operator", audit({ actor: "operator" })],
  ["those of sign-ins", audit({ action: "session" })],
  ["those of an action that is rare", audit({ action: "key.create" })],
  ["those of an action that was not taken", audit({ action: "member.add" })],
  ["those of a day", audit({ from: daysAgo(601), to: daysAgo(600) })],
  ["requests of a day by quarter of an hour", usage(1, 15, false)],
  ["requests of a day by key and assistant", usage(1, DAY_MINUTES, true)],
  ["requests of a week", usage(7, 120, false)],
  ["requests of a week by key and assistant", usage(7, DAY_MINUTES, true)],
  ["requests of a month by key and assistant", usage(30, DAY_MINUTES, true)],
  ["failed requests", failed({})],
  ["failed requests of a key", failed({ key_id: "key_1" })],
  ["failed requests with a code that there was none of", failed({ code: "internal_error" })],
  ["the last requests", (sql) => listRequests(sql, { brand_id: brand.id, page_size: 50 }, 24, Date.now())],
  [
    "the last requests of brands, to add to them",
    (sql) => addRecentRequests(sql, [{ brand_id: brand.id, count: 1, requests: Buffer.of() }]),
  ],
  ["old requests, to delete them", (sql) => deleteOldRequests(sql, 24, 1_000)],
  ["keys with their last use", (sql) => keysOf(sql, brand.id, { page_size: 200 })],
  ["members", (sql) => membersOf(sql, brand.id, { page_size: 200 })],
  ["a person's memberships", (sql) => listMemberships(sql, "m1@brand.example")],
  ["the brand of a key", (sql) => findBrandOfKey(sql, keyId)],
  // During an update from 1.0, when announced entries are looked for.
  ["an entry of the audit log, to write it", (sql) => recordForBrands(sql, [{ brand_id: brand.id }], ENTRY)],
  ["old audit entries, to delete them", (sql) => deleteOldAuditEntries(sql, 730, 1_000)],
];

it.each(CALLS)("reads few blocks for %s, and no table whole, by either plan", async (_, call) => {
  const counted = await countBuffers(served.db, call);
  expect({ ...counted, isWithin: Math.max(counted.generic, counted.custom) <= BUFFERS_MAX }).toEqual({
    ...counted,
    readWhole: [],
    isWithin: true,
  });
});

it("reads a page of keys as an index has it: behind thousands of revoked ones it costs no more", async () => {
  const page = (token: string | null) => (sql: Sql) => keysOf(sql, brand.id, { page_size: 50, page_token: token });
  const first = await page(null)(served.db);
  expect(first.rows.every(({ revoked_at }) => revoked_at === null)).toBe(true);
  for (const token of [null, first.nextPageToken]) {
    const { generic, custom, sorted } = await countBuffers(served.db, page(token));
    expect({ sorted, isWithin: Math.max(generic, custom) <= 200 }).toEqual({ sorted: 0, isWithin: true });
  }
});

it("reads a page of the export as an index has it", async () => {
  const beginning = { changedAt: "2000-01-01T00:00:00.000Z", id: "aud_1" };
  const page = (sql: Sql) => pageOfSettledEntries(sql, beginning, "2100-01-01T00:00:00.000Z", 1_001);
  expect(await page(served.db)).toHaveLength(1_001);
  const { generic, custom, sorted, readWhole } = await countBuffers(served.db, page);
  expect({ sorted, readWhole, isWithin: Math.max(generic, custom) <= 2_000 }).toEqual({ sorted: 0, readWhole: [], isWithin: true });
});

it("finds what names a person by indexes", async () => {
  const plans = await served.db.transaction(async (sql) => {
    await sql.query("set local enable_seqscan = off");
    const email = "'ana@ulap.example'";
    return [
      await sql.query(`explain select from accounts.audit_entries where actor = ${email} or subject_id = ${email} or via = ${email}`),
      await sql.query(`explain select from accounts.keys where created_by = ${email} or revoked_by = ${email}`),
    ];
  });
  for (const name of ["audit_entries_actor", "audit_entries_subject_id", "audit_entries_via", "keys_created_by", "keys_revoked_by"])
    expect(JSON.stringify(plans)).toMatch(new RegExp(` (on|using) ${name}\\b`));
});

it("adds failed requests up without putting them into the order of their texts", async () => {
  const { sorted } = await countBuffers(served.db, failed({}));
  expect(sorted).toBeLessThan(FAILURES_PER_BRAND_MAX / 10);
});
