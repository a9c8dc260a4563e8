import { join } from "node:path";
import { openPool } from "@brand-records/postgres";
import { createDatabase, startProcess, type TestDatabase } from "@brand-records/testkit";

const CONNECTIONS = 6;

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase("empty");
});
afterAll(() => database.drop());

it("has opened every connection of its pool, and used it, when it is ready for the first time", async () => {
  const plans = await startProcess({
    name: "plans",
    script: join(process.cwd(), "services/plans/dist/bundle/main.js"),
    env: {
      DATABASE_URL: database.url,
      DATABASE_CONNECTIONS_MAX: String(CONNECTIONS),
      ACCOUNTS_ADDRESS: "127.0.0.1:1",
      RPC_PORT: "0",
      STOP_GRACE_MS: "0",
    },
  });
  const db = openPool({ url: database.url, max: 1, applicationName: "test" });
  try {
    const used = "select count(*) from pg_stat_activity where application_name = 'plans' and datname = current_database() and query <> ''";
    expect(await db.query(used)).toEqual([{ count: CONNECTIONS }]);
  } finally {
    await db.stop();
    await plans.kill();
  }
});
