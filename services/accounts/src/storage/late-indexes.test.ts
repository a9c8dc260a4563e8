import { join } from "node:path";
import { buildLateIndexes, migrate, openPool, type Database } from "@brand-records/postgres";
import { createDatabase, type TestDatabase } from "@brand-records/testkit";
import { CHANGED_AT } from "./audit-export.ts";
import { LATE_INDEXES } from "./late-indexes.ts";

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createDatabase("accounts_schema", async (url) => {
    await migrate({ url, schema: "accounts", directory: join(import.meta.dirname, "../../migrations") });
  });
  db = openPool({ url: database.url, applicationName: "index test" });
});
afterAll(async () => {
  await db.stop();
  await database.drop();
});

it("finds what names a person, and what an export reads, by indexes that are built after the start", async () => {
  expect(await buildLateIndexes(db, { url: database.url, schema: "accounts", indexes: LATE_INDEXES })).toEqual(
    LATE_INDEXES.map(({ name }) => name),
  );
  const plans = await db.transaction(async (sql) => {
    await sql.query("set local enable_seqscan = off");
    return [
      await sql.query(
        `explain select from accounts.audit_entries
          where actor = 'ana@ulap.example' or subject_id = 'ana@ulap.example' or via = 'ana@ulap.example'`,
      ),
      await sql.query("explain select from accounts.keys where created_by = 'ana@ulap.example' or revoked_by = 'ana@ulap.example'"),
      await sql.query(
        `explain select from accounts.audit_entries where (${CHANGED_AT}, id) > (now(), '') order by ${CHANGED_AT}, id limit 1`,
      ),
    ];
  });
  for (const { name } of LATE_INDEXES) expect(JSON.stringify(plans)).toMatch(new RegExp(` (on|using) ${name}\\b`));
});
