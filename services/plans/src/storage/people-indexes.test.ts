import { join } from "node:path";
import { migrate, openPool, type Database } from "@brand-records/postgres";
import { createDatabase, type TestDatabase } from "@brand-records/testkit";

const INDEXES = ["plans_closed_by", "plans_edited_by"];

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createDatabase("plans_schema", async (url) => {
    await migrate({ url, schema: "plans", directory: join(import.meta.dirname, "../../migrations") });
  });
  db = openPool({ url: database.url, applicationName: "index test" });
});
afterAll(async () => {
  await db.stop();
  await database.drop();
});

it("finds what names a person by indexes", async () => {
  const plans = await db.transaction(async (sql) => {
    await sql.query("set local enable_seqscan = off");
    return sql.query("explain select from plans.plans where closed_by = 'ana@ulap.example' or edited_by = 'ana@ulap.example'");
  });
  for (const name of INDEXES) expect(JSON.stringify(plans)).toContain(` on ${name}`);
});
