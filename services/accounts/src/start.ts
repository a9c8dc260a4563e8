import { fileURLToPath } from "node:url";
import type { Lifecycle } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import { AccountsServiceService, VerificationServiceService } from "@brand-records/proto/accounts/v1";
import { openRedis } from "@brand-records/redis";
import { service, type ServedService } from "@brand-records/rpc";
import { startService } from "@brand-records/service";
import type { Logger } from "@brand-records/telemetry";
import type { AccountsConfig } from "./config.ts";
import { noEpochBoard } from "./epochs/epoch-board.ts";
import { redisEpochBoard } from "./epochs/redis-epoch-board.ts";
import { startRepublisher } from "./epochs/republisher.ts";
import { startKeyUses } from "./key-uses.ts";
import type { Parts } from "./parts.ts";
import { accountsHandlers } from "./rpc/accounts.ts";
import { verificationHandlers } from "./rpc/verification.ts";

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

/** An owner waits for a publication; no request does. */
const PUBLISH_TIMEOUT_MS = 500;

/** Starts the service; answers the ports it listens on. */
export function startAccounts(config: AccountsConfig, life: Lifecycle, log: Logger): Promise<{ rpc_port: number; admin_port: number }> {
  const redis = config.REDIS_URL === undefined ? undefined : openRedis(config.REDIS_URL, { log, commandTimeoutMs: PUBLISH_TIMEOUT_MS });
  if (redis !== undefined) life.own("redis", redis);
  const degraded = (): string[] => (redis?.isUp === false ? ["redis"] : []);
  const wire = (db: Database): ServedService[] => {
    const epochs = redis === undefined ? noEpochBoard : redisEpochBoard(redis, log);
    if (epochs !== noEpochBoard) life.own("epoch republisher", startRepublisher(db, epochs, log));
    const keyUses = life.own("key uses", startKeyUses(db, log));
    const noteUse = (keyId: string): void => keyUses.note(keyId);
    const parts: Parts = { db, epochs, peppers: config.KEY_PEPPERS, environment: config.ENVIRONMENT, noteUse };
    return [service(VerificationServiceService, verificationHandlers(parts)), service(AccountsServiceService, accountsHandlers(parts))];
  };
  return startService({ name: "accounts", config, migrations: MIGRATIONS, life, log, wire, degraded });
}
