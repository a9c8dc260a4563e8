import "@brand-records/config/require-node";
import { runMigrations } from "@brand-records/service-runtime";
import { MIGRATIONS } from "./migrations.ts";

await runMigrations({ name: "accounts", migrations: MIGRATIONS, env: process.env });
