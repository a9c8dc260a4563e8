import { join } from "node:path";
import { migrate, openPool, type Database } from "@brand-records/postgres";
import { createDatabase, type TestDatabase } from "@brand-records/testkit";
import { CHANGED_AT } from "./audit-export.ts";

const INDEXES = [
  "audit_entries_actor",
  "audit_entries_subject_id",
  "audit_entries_via",
  "keys_created_by",
  "keys_revoked_by",
  "audit_entries_changed",
];

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

it("finds what names a person, and what an export reads, by indexes", async () => {
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
  for (const name of INDEXES) expect(JSON.stringify(plans)).toMatch(new RegExp(` (on|using) ${name}\\b`));
});
