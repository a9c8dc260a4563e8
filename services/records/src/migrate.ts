import "@brand-records/config/require-node";
import { runMigrations } from "@brand-records/service-runtime";
import { MIGRATIONS } from "./migrations.ts";

await runMigrations({ name: "records", migrations: MIGRATIONS, env: process.env });
