import { readPem } from "@brand-records/config";
import type { Lifecycle } from "@brand-records/lifecycle";
import { openRedis, type RedisClient } from "@brand-records/redis";
import { type ServicePorts, type StartedService, startService } from "@brand-records/service-runtime";
import type { Logger } from "@brand-records/telemetry";
import type { AccountsConfig } from "./config.ts";
import type { AccountsDependencies } from "./dependencies.ts";
import { GrantKeys } from "./domain/grant-keys.ts";
import { noEpochPublisher, redisEpochPublisher, startEpochRepublisher } from "./epochs/epoch-publisher.ts";
import { openIdentify } from "./id-tokens/identify.ts";
import { startJanitor } from "./janitor.ts";
import { startKeyUsage } from "./key-usage.ts";
import { openMailer, startMail } from "./mail/send-mail.ts";
import { MIGRATIONS } from "./migrations.ts";
import { accountsServices } from "./rpc/services.ts";
import { signInCounter } from "./rpc/sign-in.ts";
import { auditSink } from "./use-cases/audit.ts";
import { ownGrants } from "./use-cases/grants.ts";
import { announcePeppers } from "./use-cases/peppers.ts";
import { requireNotRestored } from "./use-cases/restore/require-not-restored.ts";

/** Only an owner waits for a publication; no API request does. */
const PUBLISH_TIMEOUT_MS = 500;

/** Starts the service and returns the ports it listens on. */
export async function startAccounts(config: AccountsConfig, life: Lifecycle, log: Logger): Promise<ServicePorts> {
  const base = await startService({ name: "accounts", config, migrations: MIGRATIONS, life, log });
  const { db, maintenance, clock, metrics } = base;
  const redis = startRedis(config, base, life, log);
  await requireNotRestored(db, redis, log);
  const mayMissKeys = await announcePeppers(base, { db, peppers: config.KEY_PEPPERS, environment: config.ENVIRONMENT });
  const published = redis && redisEpochPublisher(redis, log, metrics);
  if (published !== undefined) life.own("epoch republisher", startEpochRepublisher(db, published, maintenance));
  const keyUsage = life.own("key usage", startKeyUsage(db, clock, log));
  const sessionLimits = { idleSeconds: config.SESSION_IDLE_SECONDS, maxSeconds: config.SESSION_SECONDS_MAX };
  const keep = { usageKeepDays: config.USAGE_RETENTION_DAYS, requestsKeepHours: config.REQUESTS_RETENTION_HOURS };
  life.own("janitor", startJanitor({ db, maintenance, sessionLimits, auditKeepDays: config.AUDIT_RETENTION_DAYS, ...keep }));
  const mailer = await openMailer({ config, db, maintenance, metrics, log });
  if (mailer !== undefined) life.own("mail", startMail(mailer));
  const deps: AccountsDependencies = {
    db,
    clock,
    epochs: published ?? noEpochPublisher,
    peppers: config.KEY_PEPPERS,
    grantKeys: new GrantKeys(config.KEY_PEPPERS, () => clock.now()),
    environment: config.ENVIRONMENT,
    sessionLimits,
    limits: { keys: config.KEYS_PER_BRAND_MAX, members: config.MEMBERS_PER_BRAND_MAX },
    ...keep,
    sendsMail: mailer !== undefined,
    identify: openIdentify(config, clock),
    log,
    recordKeyUse: keyUsage.record,
    countSignIn: signInCounter(metrics),
    mayMissKeys,
  };
  return base.serve(accountsServices(deps), { grants: ownGrants(deps), audit: auditSink(db) });
}

/** Opens the Redis in which epochs are published. Without REDIS_URL there is none, and gateways cache no key. */
function startRedis(
  { REDIS_URL, REDIS_TLS_CA }: AccountsConfig,
  { reportDegraded }: StartedService,
  life: Lifecycle,
  log: Logger,
): RedisClient | undefined {
  if (REDIS_URL === undefined) return undefined;
  const tlsCa = REDIS_TLS_CA === undefined ? undefined : readPem("REDIS_TLS_CA", REDIS_TLS_CA);
  const redis = life.own("redis", openRedis(REDIS_URL, { log, commandTimeoutMs: PUBLISH_TIMEOUT_MS, tlsCa }));
  reportDegraded("redis", () => !redis.isUp);
  return redis;
}
