import { join } from "node:path";
import { migrate } from "@brand-records/postgres";
import type { BenchDatabase } from "../databases.ts";
import { ROOT } from "../program.ts";

/** Creates a service's schema by its own migrations. */
export async function migrateService({ databaseUrl }: BenchDatabase, service: string): Promise<void> {
  await migrate({ url: databaseUrl, schema: service, directory: join(ROOT, "services", service, "migrations") });
}
