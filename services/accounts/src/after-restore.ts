import "@brand-records/config/require-node";
import { parseArgs } from "node:util";
import { ConfigError, loadConfig, parseEnv, postgresUrl, readPem } from "@brand-records/config";
import { reportFailure } from "@brand-records/lifecycle";
import { openPool, type Database } from "@brand-records/postgres";
import { openRedis } from "@brand-records/redis";
import { openLog } from "@brand-records/telemetry";
import { prepareSchema } from "@brand-records/service-runtime";
import { z } from "zod";
import { parseConfig } from "./config.ts";
import { MIGRATIONS } from "./migrations.ts";
import { liveRights } from "./storage/live-rights.ts";
import { afterRestore, type AfterRestoreOptions } from "./use-cases/restore/after-restore.ts";
import { lostRightsInFiles } from "./use-cases/restore/audit-file.ts";
import { lostRightsIn } from "./use-cases/restore/live-database.ts";

/** One brand's reply may wait behind those of others. */
const REDIS_TIMEOUT_MS = 5_000;

/**
 * A program of its own, with accounts' settings, for a database that was restored from a backup. Takes away again what has ended since, as
 * `--audit FILE` or a live database says: `--live-schema NAME` beside the restored one, or `LIVE_DATABASE_URL`. Writes a line for each
 * right that it took, each key that works, and what a person must look at, and a summary. Exits as `migrate.js` does: 0 when all is done, 78 for wrong settings or options, else 1; then it must run again.
 */
const config = loadConfig(() => parseConfig(process.env));
/** A setting of this program alone. Everyone on the machine can read the arguments of its processes, so `--live URL` is for a URL without a password. */
const { LIVE_DATABASE_URL } = loadConfig(() => parseEnv(z.object({ LIVE_DATABASE_URL: postgresUrl.optional() }), process.env));
const log = openLog("after-restore accounts", config.LOG_LEVEL);
const db = openPool({ url: config.DATABASE_URL, max: 1, applicationName: "after-restore accounts" });
// The marker may be another login's than that of the service.
const ownerDb = openPool({ url: config.MIGRATION_DATABASE_URL ?? config.DATABASE_URL, max: 1, applicationName: "after-restore accounts" });
const tlsCa = config.REDIS_TLS_CA === undefined ? undefined : readPem("REDIS_TLS_CA", config.REDIS_TLS_CA);
const redis = config.REDIS_URL === undefined ? undefined : openRedis(config.REDIS_URL, { log, commandTimeoutMs: REDIS_TIMEOUT_MS, tlsCa });
try {
  const readLostRights = sourceOf(process.argv.slice(2), db);
  await redis?.firstContact;
  // A backup may be of an older release.
  await prepareSchema({ name: "accounts", migrations: MIGRATIONS, config, log });
  const done = await afterRestore({
    db,
    ownerDb,
    redis,
    readLostRights,
    onTaken: ({ right, ...of }) => list(`the backup gave back what has ended since: ${right}`, namesOf(of)),
    onWithoutOwner: (brand_id) => list("brand has no owner any more: add one (brandctl members add)", { brand_id }),
    onOpen: ({ brand_id, action, subject_id, created_at }) =>
      list("look at it: this cannot be repeated by a program", { brand_id, action, subject_id, created_at }),
    onKey: ({ brand_id, id, name, hint, environment, created_at, last_used_at }) =>
      list("key works: its revocation may be lost", { brand_id, key_id: id, name, hint, environment, created_at, last_used_at }),
    onUnfinished: ({ brand_id, id, action, subject_id, created_at }) =>
      list("action had begun when the backup was taken: it may be lost", { brand_id, audit_id: id, action, subject_id, created_at }),
  });
  log.info({ ...done }, "restored database can be served");
} catch (error) {
  process.exitCode = reportFailure(error, log, "the restored database cannot be served yet: run this again");
} finally {
  await redis?.stop();
  await ownerDb.stop();
  await db.stop();
}

/** @throws ConfigError unless the options name one source */
function sourceOf(args: string[], restored: Database): AfterRestoreOptions["readLostRights"] {
  const { audit = [], live, "live-schema": liveSchema, "without-audit": isWithout = false, incomplete = false } = optionsIn(args);
  const servers = [live, LIVE_DATABASE_URL].filter((url) => url !== undefined);
  // A schema alone is one beside the restored one.
  const urls = servers.length === 0 && liveSchema !== undefined ? [config.DATABASE_URL] : servers;
  if ([audit.length > 0, isWithout].filter(Boolean).length + urls.length !== 1) {
    throw new ConfigError([
      "name what has happened since the backup, in one way: --audit FILE of brandctl audit export; --live-schema NAME of the old schema; " +
        "LIVE_DATABASE_URL (or --live URL) of a database that has it; or --without-audit, which leaves the list of keys to you",
    ]);
  }
  const schema = liveSchema ?? "accounts";
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) throw new ConfigError(["--live-schema: must be a name in lower case"]);
  const keepDays = config.AUDIT_RETENTION_DAYS;
  if (audit.length > 0) return (newestAt) => lostRightsInFiles(restored, audit, { newestAt, keepDays, mayHaveGap: incomplete });
  const [url] = urls;
  if (url === undefined) return async () => ({ lost: [], open: [] });
  return async (newestAt) => {
    const other = openPool({ url, max: 1, applicationName: "after-restore accounts, live" });
    try {
      return await lostRightsIn(liveRights(other, schema), restored, newestAt);
    } finally {
      await other.stop();
    }
  };
}

/** @throws ConfigError */
function optionsIn(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        audit: { type: "string", multiple: true },
        live: { type: "string" },
        "live-schema": { type: "string" },
        "without-audit": { type: "boolean" },
        incomplete: { type: "boolean" },
      },
    }).values;
  } catch (error) {
    throw new ConfigError([(error as Error).message]);
  }
}

/** Returns fields as the other lines have them. */
function namesOf({ brandId, keyId, email }: { readonly brandId?: string; readonly keyId?: string; readonly email?: string }): object {
  return { brand_id: brandId, key_id: keyId, email };
}

/** Writes a line that must not be missing: the log drops lines if the output takes them slowly (5,000 of 50,000 keys into a file). */
function list(msg: string, fields: object): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(`${JSON.stringify({ msg, ...fields })}\n`, (error) => (error ? reject(error) : resolve()));
  });
}
