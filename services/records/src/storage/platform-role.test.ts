import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { openPool, type Database } from "@brand-records/postgres";
import { RESOURCE_NAMES, RESOURCES } from "@brand-records/resources";
import { newId } from "@brand-records/ids";
import { campaign, deposit, payout, submission } from "../../test/sample-records.ts";
import { serveRecords, type ServedRecords } from "../../test/serve-records.ts";

/** The rights of a login that has the role `platform` and no other. */

const ROLE = join(import.meta.dirname, "../../platform-role.sql");
const login = `login_${newId("x").slice(2)}`;

let served: ServedRecords;
let owner: Database;
let platform: Database;
let brand: string;
beforeAll(async () => {
  served = await serveRecords();
  owner = served.db;
  await owner.query(await readFile(ROLE, "utf8"));
  await owner.query(`create role ${login} login password 'pw' in role platform`);
  const [{ database } = { database: "" }] = await owner.query<{ database: string }>("select current_database() as database");
  const url = new URL(process.env["TEST_POSTGRES_URL"] ?? "");
  Object.assign(url, { username: login, password: "pw", pathname: `/${database}` });
  platform = openPool({ url: url.href, applicationName: "platform", max: 2 });
});
beforeEach(async () => {
  brand = newId("brd");
  await owner.query("truncate records.outbox");
});
afterAll(async () => {
  await platform.stop();
  await owner.query(`drop role ${login}`);
  await served.stop();
});

const eventTypes = async () =>
  (await owner.query<{ type: string }>("select type from records.outbox order by seq")).map(({ type }) => type);

const SAMPLES = { campaigns: campaign(), submissions: submission(), payouts: payout(), deposits: deposit() };

/** Inserts every column, as a backend would. */
async function insert(resource: keyof typeof SAMPLES, record: object): Promise<void> {
  const row = { brand_id: brand, ...record };
  const names = Object.keys(row);
  await platform.query(
    `insert into records.${resource} (${names.join(", ")}) values (${names.map((_, index) => `$${index + 1}`).join(", ")})`,
    Object.values(row),
  );
}

describe("the role platform", () => {
  it.each(RESOURCE_NAMES)("reads and inserts %s, and updates every column but brand_id, id and created_at", async (resource) => {
    const rights = await owner.query<{ column: string; reads: boolean; inserts: boolean; updates: boolean }>(
      `select attname as column, has_column_privilege('platform', attrelid, attnum, 'select') as reads,
              has_column_privilege('platform', attrelid, attnum, 'insert') as inserts,
              has_column_privilege('platform', attrelid, attnum, 'update') as updates
         from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
      [`records.${resource}`],
    );
    expect(rights.map(({ column }) => column).toSorted()).toEqual(
      ["brand_id", ...Object.keys(RESOURCES[resource].schema.shape)].toSorted(),
    );
    for (const { column, reads, inserts, updates } of rights) {
      expect({ column, reads, inserts, updates }).toEqual({
        column,
        reads: true,
        inserts: true,
        updates: !["brand_id", "id", "created_at"].includes(column),
      });
    }
  });

  it("has no other right in the schema, and cannot grant any", async () => {
    const tables = await owner.query<{ name: string; rights: string }>(
      `select c.relname as name, string_agg(a.privilege_type, ' ' order by a.privilege_type) as rights
         from pg_class c, aclexplode(c.relacl) a
        where c.relnamespace = 'records'::regnamespace and a.grantee = 'platform'::regrole group by 1`,
    );
    expect(Object.fromEntries(tables.map(({ name, rights }) => [name, rights]))).toEqual({
      ...Object.fromEntries(RESOURCE_NAMES.map((name) => [name, "INSERT SELECT"])),
      status_transitions: "SELECT",
    });
    const schemas = await owner.query(
      `select n.nspname as schema, a.privilege_type as right from pg_namespace n, aclexplode(n.nspacl) a where a.grantee = 'platform'::regrole`,
    );
    expect(schemas).toEqual([{ schema: "records", right: "USAGE" }]);
    const grantable = await owner.query(
      `select c.relname from pg_class c, aclexplode(c.relacl) a where a.grantee = 'platform'::regrole and a.is_grantable`,
    );
    expect(grantable).toEqual([]);
  });

  it.each([
    "select * from records.outbox",
    "insert into records.outbox (id, aggregatetype, aggregateid, type, payload) values ('evt_1', 'payout', 'po_1', 'payout.paid', '{}')",
    "delete from records.outbox",
    "select nextval('records.outbox_seq_seq')",
    "select records.emit('payout.paid', 'brd_1', 'po_1', '{}')",
    "update records.status_transitions set to_status = from_status",
    "insert into records.status_transitions values ('payouts', 'cancelled', 'paid')",
    "delete from records.submissions",
    "truncate records.submissions",
    "update records.submissions set created_at = created_at",
    "update records.submissions set id = id",
    "alter table records.submissions disable trigger all",
    "create table records.forged ()",
    "set session_replication_role = replica",
    "select * from records.schema_migrations",
  ])("may not: %s", async (statement) => {
    await expect(platform.query(statement)).rejects.toMatchObject({ code: "42501" });
  });

  it("cannot forge events with the triggers' functions on its own table", async () => {
    const forging = platform.transaction(async (sql) => {
      await sql.query("create temp table forged on commit drop as select * from records.submissions with no data");
      await sql.query("create trigger forge after update on forged for each row execute function records.submission_reviewed()");
    });
    await expect(forging).rejects.toMatchObject({ code: "42501" });
  });

  it("has the same rights and no more after every run of the file, whatever was granted before", async () => {
    await owner.query("grant select, delete on records.outbox to platform; grant update (created_at) on records.links to platform");
    await owner.query(await readFile(ROLE, "utf8"));
    await expect(platform.query("select * from records.outbox")).rejects.toMatchObject({ code: "42501" });
    await expect(platform.query("update records.links set created_at = created_at")).rejects.toMatchObject({ code: "42501" });
    await platform.query("select * from records.links");
  });
});

describe("a login with the role", () => {
  it("writes records, and its status changes emit events", async () => {
    await insert("submissions", submission({ id: "sub_a" }));
    await insert("payouts", payout({ id: "po_a" }));
    await insert("campaigns", campaign({ id: "cmp_a", status: "ended" }));
    await insert("deposits", deposit({ id: "dep_a", status: "pending" }));
    await platform.transaction(async (sql) => {
      await sql.query("select set_config('brand_records.traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', true)");
      const change = (table: string, id: string, set: string): Promise<unknown> =>
        sql.query(`update records.${table} set ${set} where brand_id = $1 and id = $2`, [brand, id]);
      await change("submissions", "sub_a", "status = 'approved', reviewed_at = now()");
      await change("submissions", "sub_a", "status = 'rejected', rejection_code = 'policy'");
      await change("payouts", "po_a", "status = 'paid', paid_at = now()");
      await change("campaigns", "cmp_a", "status = 'settled', settled_at = now()");
      await change("deposits", "dep_a", "status = 'failed'");
    });
    expect(await eventTypes()).toEqual(["submission.approved", "submission.rejected", "payout.paid", "campaign.settled"]);
    const traces = await owner.query("select distinct traceparent from records.outbox");
    expect(traces).toEqual([{ traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" }]);
  });

  it("is bound to the allowed status changes, and has updated_at set", async () => {
    await insert("submissions", submission({ id: "sub_b" }));
    await platform.query("update records.submissions set views = 2 where brand_id = $1", [brand]);
    const [row] = await platform.query<{ updated_at: string; created_at: string }>(
      "select created_at, updated_at from records.submissions where brand_id = $1",
      [brand],
    );
    expect(row?.updated_at).not.toBe(row?.created_at);
    await platform.query("update records.submissions set status = 'withdrawn' where brand_id = $1", [brand]);
    await expect(platform.query("update records.submissions set status = 'approved' where brand_id = $1", [brand])).rejects.toMatchObject({
      code: "23514",
      message: "submissions sub_b: status cannot change from withdrawn to approved",
    });
    expect(await eventTypes()).toEqual([]);
  });

  it("upserts, and imports history without events and with any status change", async () => {
    await insert("payouts", payout({ id: "po_b", status: "cancelled" }));
    await platform.transaction(async (sql) => {
      await sql.query("set local brand_records.events = off");
      await sql.query(
        `insert into records.payouts select * from records.payouts where brand_id = $1
         on conflict (brand_id, id) do update set status = 'paid', paid_at = '2026-01-05 00:00:00+00', updated_at = '2026-01-05 00:00:00+00'`,
        [brand],
      );
    });
    expect(await eventTypes()).toEqual([]);
    // The next transaction of the same connection is not an import.
    await expect(platform.query("update records.payouts set status = 'pending' where brand_id = $1", [brand])).rejects.toMatchObject({
      code: "23514",
    });
    const changed = await platform.query("select status, updated_at from records.payouts where brand_id = $1", [brand]);
    expect(changed).toEqual([{ status: "paid", updated_at: "2026-01-05T00:00:00.000Z" }]);
  });
});

it("docs/platform.md lists exactly the status changes that the database allows", async () => {
  const text = await readFile(join(import.meta.dirname, "../../../../docs/platform.md"), "utf8");
  const section = /^## Which status follows which\n(.*?)^## /ms.exec(text)?.[1] ?? "";
  const documented = [...section.matchAll(/^\| `(\w+)`\s*\| `(\w+)`\s*\| ([^|]+) \|$/gm)].flatMap(([, resource, from, followers = ""]) =>
    [...followers.matchAll(/`(\w+)`/g)].map(([, to]) => `${resource}: ${from} → ${to}`),
  );
  const rows = await owner.query<{ resource: string; from_status: string; to_status: string }>("select * from records.status_transitions");
  const allowed = rows.map(({ resource, from_status, to_status }) => `${resource}: ${from_status} → ${to_status}`);
  expect(documented.toSorted()).toEqual(allowed.toSorted());
});

it.each([
  ["submissions", "approved", "reviewed_at", "pending", "sub", submission()],
  ["payouts", "paid", "paid_at", "processing", "po", payout()],
  ["campaigns", "settled", "settled_at", "ended", "cmp", campaign()],
] as const)(
  "docs/platform.md says how to send events of %s again: one for each record of the time, none on the way back",
  async (...row) => {
    const [resource, status, at, back, prefix, sample] = row;
    const page = await readFile(join(import.meta.dirname, "../../../../docs/platform.md"), "utf8");
    const [, statements = ""] = /### Sending events again[^]*?```sql\n([^]*?)```/.exec(page) ?? [];
    const [lost, later] = [newId(prefix), newId(prefix)];
    await insert(resource, { ...sample, id: lost, status, [at]: "2026-11-20 12:00Z" });
    await insert(resource, { ...sample, id: later, status, [at]: "2026-11-22 12:00Z" });
    await platform.query(
      statements
        .replaceAll("records.submissions", `records.${resource}`)
        .replaceAll("reviewed_at", at)
        .replaceAll("'pending'", `'${back}'`)
        .replace("'approved', 'rejected'", `'${status}'`),
    );
    const events = await owner.query<{ payload: { data: unknown } }>("select payload from records.outbox");
    expect(events.map(({ payload }) => payload.data)).toEqual([
      expect.objectContaining({ id: lost, status, previous_status: back, [at]: "2026-11-20T12:00:00.000Z" }),
    ]);
    expect(await owner.query(`select status from records.${resource} where brand_id = $1`, [brand])).toEqual([{ status }, { status }]);
  },
);
