import { join } from "node:path";
import { buildLateIndexes, migrate, openPool, type Database } from "@brand-records/postgres";
import { createDatabase, type TestDatabase } from "@brand-records/testkit";
import { LATE_INDEXES } from "./late-indexes.ts";

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

it("finds what names a person by indexes that are built after the start", async () => {
  expect(await buildLateIndexes(db, { url: database.url, schema: "plans", indexes: LATE_INDEXES })).toEqual(
    LATE_INDEXES.map(({ name }) => name),
  );
  const plans = await db.transaction(async (sql) => {
    await sql.query("set local enable_seqscan = off");
    return sql.query("explain select from plans.plans where closed_by = 'ana@ulap.example' or edited_by = 'ana@ulap.example'");
  });
  for (const { name } of LATE_INDEXES) expect(JSON.stringify(plans)).toContain(` on ${name}`);
});
