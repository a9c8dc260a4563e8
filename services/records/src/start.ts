import { fileURLToPath } from "node:url";
import type { Lifecycle } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import { ImportServiceService, RecordsServiceService } from "@brand-records/proto/records/v1";
import { service, type ServedService } from "@brand-records/rpc";
import { startService } from "@brand-records/service";
import type { Logger } from "@brand-records/telemetry";
import type { RecordsConfig } from "./config.ts";
import { importHandlers } from "./rpc/importing.ts";
import { recordsHandlers } from "./rpc/records.ts";

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

/** Imports under way at once; each holds a connection from its first line to its commit. */
const IMPORTS_MAX = 4;

/** Starts the service; answers the ports it listens on. */
export function startRecords(config: RecordsConfig, life: Lifecycle, log: Logger): Promise<{ rpc_port: number; admin_port: number }> {
  const wire = (db: Database, openOwnPool: (purpose: string, max: number) => Database): ServedService[] => [
    service(RecordsServiceService, recordsHandlers(db)),
    service(ImportServiceService, importHandlers(openOwnPool("records import", IMPORTS_MAX), IMPORTS_MAX)),
  ];
  return startService({ name: "records", config, migrations: MIGRATIONS, life, log, wire });
}
