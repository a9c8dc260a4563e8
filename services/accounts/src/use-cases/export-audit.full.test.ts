import { join } from "node:path";
import { migrate, openPool, type Database } from "@brand-records/postgres";
import { createDatabase, type TestDatabase } from "@brand-records/testkit";
import { pageOfSettledEntries } from "../storage/audit-export.ts";
import { exportAudit } from "./audit.ts";

/** One promise: a page of a large audit log costs what the page costs. */

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createDatabase("accounts_schema", async (url) => {
    await migrate({ url, schema: "accounts", directory: join(import.meta.dirname, "../../migrations") });
  });
  db = openPool({ url: database.url, applicationName: "export test", max: 1, statementTimeoutMs: 120_000 });
  await db.query(
    `insert into accounts.audit_entries (id, brand_id, actor, action, fields, request_id, created_at, outcome, finished_at)
     select 'aud_' || lpad(n::text, 8, '0'), 'brd_' || n % 100, 'ana@ulap.example', 'key.create',
            case when n <= 5000 then array_fill('a_field_with_a_long_name_of_forty_letters'::text, array[50]) else '{name}' end, 'req_' || n,
            now() - interval '1 day' + n / 10 * interval '1 ms', 'done', now() - interval '1 day' + n / 10 * interval '2 ms'
       from generate_series(1, 200000) n`,
  );
  await db.query("analyze accounts.audit_entries");
}, 180_000);
afterAll(async () => {
  await db.stop();
  await database.drop();
});

it("returns no more than a message takes", async () => {
  const { entries, end_reached } = await exportAudit(db, null, 5_000, null);
  expect(end_reached).toBe(false);
  expect(entries.length).toBeGreaterThan(1_000);
  expect(entries.length).toBeLessThan(5_000);
  expect(Buffer.byteLength(JSON.stringify(entries))).toBeLessThan(5_000_000);
});

it.each(["auto", "force_custom_plan", "force_generic_plan"])(
  "reads no more than a page, with plans that Postgres chooses by %s",
  async (mode) => {
    const position = { changedAt: "2026-01-01T00:00:00.000Z", id: "aud_1" };
    const plan = await db.transaction(async (sql) => {
      await sql.query(`set local plan_cache_mode = ${mode}`);
      await pageOfSettledEntries(sql, position, "2100-01-01T00:00:00Z", 1_001);
      return sql.query(
        `explain (analyze, buffers, timing off)
       execute "audit_export.page" ('${position.changedAt}', '${position.id}', '2100-01-01T00:00:00Z', 1001)`,
      );
    });
    const text = JSON.stringify(plan);
    expect(text).toMatch(/Index Scan using audit_entries_changed.*rows=1001/);
    expect(text).not.toMatch(/Seq Scan|Sort/);
    const [, hit, read] = /shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(text) ?? [];
    expect(Number(hit ?? 0) + Number(read ?? 0)).toBeLessThan(2_000);
  },
);

it("leaves the plans of the list and of the deletion of old entries as they were", async () => {
  const list = await db.query(
    "explain select from accounts.audit_entries e where e.brand_id = 'brd_1' order by e.created_at desc, e.id desc limit 51",
  );
  const deletion = await db.query(
    `explain select id from accounts.audit_entries where created_at < now() - make_interval(days => 730)
        and (action <> 'brand.delete' or finished_at < now() - make_interval(days => 730)) order by created_at limit 1000`,
  );
  expect(JSON.stringify(list)).toContain("audit_entries_brand_id");
  expect(JSON.stringify(deletion)).toContain("audit_entries_created_at");
});
