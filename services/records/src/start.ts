import { fileURLToPath } from "node:url";
import type { Lifecycle } from "@brand-records/lifecycle";
import { migrate, openPool } from "@brand-records/postgres";
import { ImportServiceService, RecordsServiceService } from "@brand-records/proto/records/v1";
import { serveRpc, service } from "@brand-records/rpc";
import { openMetrics, startAdminServer, type Logger } from "@brand-records/telemetry";
import type { RecordsConfig } from "./config.ts";
import { importHandlers } from "./rpc/importing.ts";
import { recordsHandlers } from "./rpc/records.ts";

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

/** Starts the service; answers the ports it listens on. */
export async function startRecords(config: RecordsConfig, life: Lifecycle, log: Logger): Promise<{ rpc_port: number; admin_port: number }> {
  const metrics = openMetrics("records");
  const admin = life.own(
    "admin server",
    await startAdminServer({
      host: config.ADMIN_HOST,
      port: config.ADMIN_PORT,
      metrics,
      notReady: () => (life.isReady ? [] : ["process"]),
    }),
  );

  const applied = await migrate({ url: config.DATABASE_URL, schema: "records", directory: MIGRATIONS });
  if (applied.length > 0) log.info({ applied }, "schema migrated");
  const db = life.own(
    "postgres pool",
    openPool({
      url: config.DATABASE_URL,
      max: config.DATABASE_CONNECTIONS_MAX,
      applicationName: "records",
      onIdleError: (error) => log.warn({ err: error }, "idle database connection lost"),
    }),
  );

  const services = [service(RecordsServiceService, recordsHandlers(db)), service(ImportServiceService, importHandlers(db))];
  const rpc = life.own("rpc server", await serveRpc({ config, services, log, metrics }));
  return { rpc_port: rpc.port, admin_port: admin.port };
}
