import { fileURLToPath } from "node:url";
import type { Lifecycle } from "@brand-records/lifecycle";
import { AccountsServiceService, VerificationServiceService } from "@brand-records/proto/accounts/v1";
import { openRedis } from "@brand-records/redis";
import { service } from "@brand-records/rpc";
import { startService, type ServicePorts, type StartedService } from "@brand-records/service";
import type { Logger } from "@brand-records/telemetry";
import type { AccountsConfig } from "./config.ts";
import { noEpochPublisher, type EpochPublisher } from "./epochs/epoch-publisher.ts";
import { redisEpochPublisher } from "./epochs/redis-epoch-publisher.ts";
import { startRepublisher } from "./epochs/republisher.ts";
import { startKeyUses } from "./key-uses.ts";
import type { Parts } from "./parts.ts";
import { accountsHandlers } from "./rpc/accounts.ts";
import { verificationHandlers } from "./rpc/verification.ts";

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

/** An owner waits for a publication; no request does. */
const PUBLISH_TIMEOUT_MS = 500;

/** Starts the service. @returns the ports it listens on */
export async function startAccounts(config: AccountsConfig, life: Lifecycle, log: Logger): Promise<ServicePorts> {
  const base = await startService({ name: "accounts", config, migrations: MIGRATIONS, life, log });
  const { db } = base;
  const epochs = startEpochs(config, base, life, log);
  const keyUses = life.own("key uses", startKeyUses(db, log));
  const noteUse = (keyId: string): void => keyUses.note(keyId);
  const parts: Parts = { db, epochs, peppers: config.KEY_PEPPERS, environment: config.ENVIRONMENT, noteUse };
  return base.serve([
    service(VerificationServiceService, verificationHandlers(parts)),
    service(AccountsServiceService, accountsHandlers(parts)),
  ]);
}

/** Publishes epochs in Redis where REDIS_URL is set. Without it gateways cache no key. */
function startEpochs({ REDIS_URL }: AccountsConfig, { db, reportDegraded }: StartedService, life: Lifecycle, log: Logger): EpochPublisher {
  if (REDIS_URL === undefined) return noEpochPublisher;
  const redis = life.own("redis", openRedis(REDIS_URL, { log, commandTimeoutMs: PUBLISH_TIMEOUT_MS }));
  reportDegraded("redis", () => !redis.isUp);
  const epochs = redisEpochPublisher(redis, log);
  life.own("epoch republisher", startRepublisher(db, epochs, log));
  return epochs;
}
