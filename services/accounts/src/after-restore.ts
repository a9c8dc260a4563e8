import "@brand-records/config/require-node";
import { ConfigError, loadConfig, readPem } from "@brand-records/config";
import { openPool } from "@brand-records/postgres";
import { openRedis, refusalIn } from "@brand-records/redis";
import { parseOptions, runJob, type Job } from "@brand-records/service-runtime";
import { parseConfig, type AccountsConfig } from "./config.ts";
import { MIGRATIONS } from "./migrations.ts";
import { afterRestore } from "./use-cases/restore/after-restore.ts";
import type { AuditFiles } from "./use-cases/restore/audit-file.ts";

/** One brand's reply may wait behind those of others. */
const REDIS_TIMEOUT_MS = 5_000;

/**
 * A program of its own, with accounts' settings, for a database that was restored from a backup. Takes away again what has ended since, as
 * exports of the audit log say (`--audit FILE`). Writes a line for each
 * right that it took, each key that works, and what a person must look at, and a summary. Exits as `migrate.js` does: 0 when all is done, 78 for wrong settings or options, else 1; then it must run again.
 */
const { config, audit } = loadConfig(() => {
  const parsed = parseConfig(process.env);
  return { config: parsed, audit: auditFiles(parsed) };
});
// A backup may be of an older release.
await runJob({
  program: "after-restore",
  name: "accounts",
  migrations: MIGRATIONS,
  config,
  failure: "the restored database cannot be served yet: run this again",
  work: restore,
});

async function restore({ db, log }: Job): Promise<void> {
  const tlsCa = config.REDIS_TLS_CA === undefined ? undefined : readPem("REDIS_TLS_CA", config.REDIS_TLS_CA);
  const redis =
    config.REDIS_URL === undefined ? undefined : openRedis(config.REDIS_URL, { log, commandTimeoutMs: REDIS_TIMEOUT_MS, tlsCa });
  // The marker may be another login's than that of the service.
  const ownerDb = openPool({
    url: config.MIGRATION_DATABASE_URL ?? config.DATABASE_URL,
    max: 1,
    applicationName: "after-restore accounts",
  });
  try {
    await redis?.firstContact;
    const done = await afterRestore({
      db,
      ownerDb,
      redis,
      audit,
      onTaken: ({ right, ...of }) => list(`the backup gave back what has ended since: ${right}`, namesOf(of)),
      onWithoutOwner: (brand_id) => list("brand has no owner any more: add one (brandctl members add)", { brand_id }),
      onOpen: ({ brand_id, action, subject_id, created_at }) =>
        list("look at it: this cannot be repeated by a program", { brand_id, action, subject_id, created_at }),
      onKey: ({ brand_id, id, name, hint, environment, created_at, last_used_at }) =>
        list("key works: its revocation may be lost", { brand_id, key_id: id, name, hint, environment, created_at, last_used_at }),
    });
    log.info({ ...done }, "restored database can be served");
  } catch (error) {
    const refusal = refusalIn(error);
    throw refusal === undefined ? error : new ConfigError([`REDIS_URL: ${refusal}`], { cause: error });
  } finally {
    await redis?.stop();
    await ownerDb.stop();
  }
}

/** @throws ConfigError unless the options name files, or say that there is none */
function auditFiles({ AUDIT_RETENTION_DAYS }: AccountsConfig): AuditFiles | undefined {
  const options = {
    audit: { type: "string", multiple: true },
    "without-audit": { type: "boolean" },
    incomplete: { type: "boolean" },
  } as const;
  const { audit: paths = [], "without-audit": isWithout = false, incomplete = false } = parseOptions(options);
  if (paths.length > 0 === isWithout) {
    throw new ConfigError([
      "name what has happened since the backup: --audit FILE of brandctl audit export, or --without-audit, which leaves the list of keys to you",
    ]);
  }
  return isWithout ? undefined : { paths, keepDays: AUDIT_RETENTION_DAYS, mayHaveGap: incomplete };
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
