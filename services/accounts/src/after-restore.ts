import { loadConfig, readPem } from "@brand-records/config";
import { reportFailure } from "@brand-records/lifecycle";
import { openPool } from "@brand-records/postgres";
import { openRedis } from "@brand-records/redis";
import { openLog } from "@brand-records/telemetry";
import { parseConfig } from "./config.ts";
import { afterRestore } from "./use-cases/after-restore.ts";

/** One brand's reply may wait behind those of others. */
const REDIS_TIMEOUT_MS = 5_000;

/**
 * A program of its own, with accounts' settings, for a database that was restored from a backup. Writes a line for each key whose revocation may
 * be lost, and a summary. Exits as `migrate.js` does: 0 when all is done, 78 for wrong settings, else 1; then it must run again.
 */
const config = loadConfig(() => parseConfig(process.env));
const log = openLog("after-restore accounts", config.LOG_LEVEL);
const db = openPool({ url: config.DATABASE_URL, max: 1, applicationName: "after-restore accounts" });
const tlsCa = config.REDIS_TLS_CA === undefined ? undefined : readPem("REDIS_TLS_CA", config.REDIS_TLS_CA);
const redis = config.REDIS_URL === undefined ? undefined : openRedis(config.REDIS_URL, { log, commandTimeoutMs: REDIS_TIMEOUT_MS, tlsCa });
try {
  await redis?.firstContact;
  const done = await afterRestore({
    db,
    redis,
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
  await db.stop();
}

/** Writes a line that must not be missing: the log drops lines if the output takes them slowly (5,000 of 50,000 keys into a file). */
function list(msg: string, fields: object): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(`${JSON.stringify({ msg, ...fields })}\n`, (error) => (error ? reject(error) : resolve()));
  });
}
