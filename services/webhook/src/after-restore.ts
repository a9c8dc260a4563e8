import "@brand-records/config/require-node";
import { ConfigError, loadConfig } from "@brand-records/config";
import { AppError } from "@brand-records/errors";
import { rewindReaders } from "@brand-records/event-log";
import { AccountsServiceService } from "@brand-records/proto/accounts/v1";
import { connectRpc } from "@brand-records/rpc";
import { parseOptions, runJob, type Job } from "@brand-records/service-runtime";
import { GROUP, parseConfig } from "./config.ts";
import { deletedAmong } from "./known-brands.ts";
import { MIGRATIONS } from "./migrations.ts";
import { brandsDeletedSince, repeatDeletion } from "./use-cases/delete-brand.ts";

/**
 * A program of its own, with webhook's settings, for a database that was restored from a backup, while no webhook process runs and accounts does.
 * Lets the intake read again what Kafka stored since `--since`: what is stored already changes nothing. Deletes the brands that accounts
 * has deleted since the backup. Unless accounts can be asked, nothing is changed but an older release's schema. Exits as `migrate.js` does.
 */
const { config, since } = loadConfig(() => ({ config: parseConfig(process.env), since: sinceOption() }));
// A backup may be of an older release.
await runJob({
  program: "after-restore",
  name: "webhook",
  migrations: MIGRATIONS,
  config,
  failure: "the restored database cannot be served yet: run this again while no webhook process runs",
  async work(job) {
    const { db, log } = job;
    const deleted = await deletedBrands(job);
    await rewind(job);
    for (const brand_id of deleted)
      log.info({ brand_id, rows: await repeatDeletion(db, brand_id) }, "the backup gave back a deleted brand");
    log.info({ brands_deleted: deleted.length }, "restored database can be served");
  },
});

/** @throws Error if accounts cannot be asked */
async function deletedBrands({ db }: Job): Promise<string[]> {
  const accounts = connectRpc(AccountsServiceService, config.ACCOUNTS_ADDRESS, { config });
  try {
    return await brandsDeletedSince(db, (brandIds) => deletedAmong(accounts, brandIds));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new Error("accounts (ACCOUNTS_ADDRESS) must run, to say which brands were deleted since the backup", { cause: error });
  } finally {
    accounts.stop();
  }
}

async function rewind({ log }: Job): Promise<void> {
  if (config.KAFKA_BROKERS.length === 0) {
    log.warn({}, "without Kafka there is nothing to read again: events since the backup are lost");
    return;
  }
  const { cut, ...rewound } = await rewindReaders(config, GROUP, since, log);
  for (const { partition, begins_at } of cut)
    log.warn(
      { topic: rewound.topic, partition, begins_at, since: since.toISOString() },
      "events since the backup may be lost: Kafka has removed messages, and this partition begins later (docs/operations.md, What a restore loses)",
    );
  log.info({ ...rewound, partitions_cut: cut.length, since: since.toISOString() }, "events will be read again");
}

/** @throws ConfigError */
function sinceOption(): Date {
  const { since = "" } = parseOptions({ since: { type: "string" } });
  const isTime = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(since);
  const time = new Date(isTime ? since : Number.NaN);
  if (Number.isNaN(time.getTime()))
    throw new ConfigError(["--since: must be an RFC 3339 time before the backup, such as 2026-11-23T06:00:00Z"]);
  return time;
}
