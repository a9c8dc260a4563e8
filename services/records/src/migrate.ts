import "@brand-records/config/require-node";
import { buildLateIndexes } from "@brand-records/postgres";
import { runMigrations } from "@brand-records/service-runtime";
import { MIGRATIONS } from "./migrations.ts";
import { LATE_INDEXES } from "./storage/late-indexes.ts";

await runMigrations({
  name: "records",
  migrations: MIGRATIONS,
  env: process.env,
  buildIndexes: (db, url) => buildLateIndexes(db, { url, schema: "records", indexes: LATE_INDEXES }),
});
