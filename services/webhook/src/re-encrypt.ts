import "@brand-records/config/require-node";
import { loadConfig } from "@brand-records/config";
import { runJob } from "@brand-records/service-runtime";
import { parseConfig } from "./config.ts";
import { MIGRATIONS } from "./migrations.ts";
import { reEncryptSecrets, requireSecretKeys } from "./use-cases/secret-keys.ts";

/** A program of its own, with webhook's settings: seals the receivers' secrets under the newest key. Exits as `migrate.js` does. */
const config = loadConfig(() => parseConfig(process.env));
await runJob({
  program: "re-encrypt",
  name: "webhook",
  migrations: MIGRATIONS,
  // Processes run beside it: their release migrates.
  config: { ...config, MIGRATE_AT_START: "false" },
  failure: "could not re-encrypt",
  async work({ db, log }) {
    await requireSecretKeys(db, config.RECEIVER_SECRET_KEYS);
    log.info({ ...(await reEncryptSecrets(db, config.RECEIVER_SECRET_KEYS)) }, "secrets re-encrypted");
  },
});
