import { fileURLToPath } from "node:url";
import type { Lifecycle } from "@brand-records/lifecycle";
import { migrate, openPool } from "@brand-records/postgres";
import { AccountsServiceService, VerificationServiceService } from "@brand-records/proto/accounts/v1";
import { openRedis } from "@brand-records/redis";
import { serveRpc, service } from "@brand-records/rpc";
import { openMetrics, startAdminServer, type Logger } from "@brand-records/telemetry";
import type { AccountsConfig } from "./config.ts";
import { noEpochBoard, type EpochBoard } from "./epochs/epoch-board.ts";
import { redisEpochBoard } from "./epochs/redis-epoch-board.ts";
import { startRepublisher } from "./epochs/republisher.ts";
import { startKeyUses } from "./key-uses.ts";
import type { Parts } from "./parts.ts";
import { accountsHandlers } from "./rpc/accounts.ts";
import { verificationHandlers } from "./rpc/verification.ts";

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

/** Starts the service; answers the ports it listens on. */
export async function startAccounts(
  config: AccountsConfig,
  life: Lifecycle,
  log: Logger,
): Promise<{ rpc_port: number; admin_port: number }> {
  const metrics = openMetrics("accounts");
  const admin = life.own(
    "admin server",
    await startAdminServer({
      host: config.ADMIN_HOST,
      port: config.ADMIN_PORT,
      metrics,
      notReady: () => (life.isReady ? [] : ["process"]),
    }),
  );

  const applied = await migrate({ url: config.DATABASE_URL, schema: "accounts", directory: MIGRATIONS });
  if (applied.length > 0) log.info({ applied }, "schema migrated");
  const db = life.own(
    "postgres pool",
    openPool({
      url: config.DATABASE_URL,
      max: config.DATABASE_CONNECTIONS_MAX,
      applicationName: "accounts",
      onIdleError: (error) => log.warn({ err: error }, "idle database connection lost"),
    }),
  );

  const epochs = openEpochBoard(config, life, log);
  if (epochs !== noEpochBoard) life.own("epoch republisher", startRepublisher(db, epochs, log));
  const keyUses = life.own("key uses", startKeyUses(db, log));
  const parts: Parts = {
    db,
    epochs,
    peppers: config.KEY_PEPPERS,
    environment: config.ENVIRONMENT,
    noteUse: (keyId) => keyUses.note(keyId),
  };

  const services = [
    service(VerificationServiceService, verificationHandlers(parts)),
    service(AccountsServiceService, accountsHandlers(parts)),
  ];
  const rpc = life.own("rpc server", await serveRpc({ config, services, log, metrics }));
  return { rpc_port: rpc.port, admin_port: admin.port };
}

function openEpochBoard(config: AccountsConfig, life: Lifecycle, log: Logger): EpochBoard {
  if (config.REDIS_URL === undefined) return noEpochBoard;
  return redisEpochBoard(life.own("redis", openRedis(config.REDIS_URL, { log })), log);
}
