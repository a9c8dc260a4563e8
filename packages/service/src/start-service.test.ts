import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Lifecycle } from "@brand-records/lifecycle";
import { migrate } from "@brand-records/postgres";
import { openLog } from "@brand-records/telemetry";
import { createDatabase, type TestDatabase } from "@brand-records/testkit";
import { z } from "zod";
import { serviceSettings } from "./settings.ts";
import { startService } from "./start-service.ts";

let database: TestDatabase;
let migrations: string;
beforeEach(async () => {
  database = await createDatabase("empty");
  migrations = await mkdtemp(join(tmpdir(), "start-service-test-"));
});
afterEach(async () => {
  await database.drop();
  await rm(migrations, { recursive: true });
});

it("refuses the database of another release with a ConfigError that advises npm run reset", async () => {
  const file = join(migrations, "0001-first.sql");
  await writeFile(file, "create table shop.orders ()");
  await migrate({ url: database.url, schema: "shop", directory: migrations });
  await writeFile(file, "create table shop.orders (id text)");
  const log = openLog("shop", "silent");
  const life = new Lifecycle(log);
  const config = z.object(serviceSettings).parse({ DATABASE_URL: database.url });
  const failure: unknown = await startService({ name: "shop", config, migrations, life, log }).catch((error: unknown) => error);
  expect(failure).toMatchObject({
    name: "ConfigError",
    message: expect.stringMatching(/DATABASE_URL: schema shop was created by another release.*"npm run reset"/),
  });
  await life.stop();
});
