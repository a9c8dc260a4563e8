import "@brand-records/config/require-node";
import { loadConfig } from "@brand-records/config";
import { reportFailure } from "@brand-records/lifecycle";
import { openPool } from "@brand-records/postgres";
import { openLog } from "@brand-records/telemetry";
import { parseConfig } from "./config.ts";
import { reEncryptSecrets, requireSecretKeys } from "./use-cases/secret-keys.ts";

/** A program of its own, with webhook's settings: seals the receivers' secrets under the newest key. Exits as `migrate.js` does. */
const config = loadConfig(() => parseConfig(process.env));
const log = openLog("re-encrypt webhook", config.LOG_LEVEL);
const db = openPool({ url: config.DATABASE_URL, max: 1, applicationName: "re-encrypt webhook" });
try {
  await requireSecretKeys(db, config.RECEIVER_SECRET_KEYS);
  log.info({ ...(await reEncryptSecrets(db, config.RECEIVER_SECRET_KEYS)) }, "secrets re-encrypted");
} catch (error) {
  process.exitCode = reportFailure(error, log, "could not re-encrypt");
} finally {
  await db.stop();
}
