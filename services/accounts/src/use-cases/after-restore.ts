import type { Database } from "@brand-records/postgres";
import type { RedisClient } from "@brand-records/redis";
import type { AuditEntry } from "../domain/audit-entry.ts";
import type { Key } from "../domain/key.ts";
import { raiseEpochs } from "../epochs/raise-epochs.ts";
import { newestAuditEntryAt, unfinishedAuditEntries } from "../storage/audit-entries.ts";
import { pageOfUnrevokedKeys } from "../storage/keys.ts";
import { deleteAnySessions } from "../storage/sessions.ts";
import { deleteUnusedLinks } from "../storage/sign-in-links.ts";

const BATCH_SIZE = 1_000;

/** An action takes seconds; entries that have had no outcome for longer are of processes that were killed. */
const UNDER_WAY_SECONDS = 600;

export interface AfterRestoreOptions {
  readonly db: Database;
  /** Undefined: gateways cache nothing. */
  readonly redis: RedisClient | undefined;
  /** Receives each key that works: its revocation may be lost. In ascending order of id. */
  onKey(key: Key): Promise<void>;
  /** Receives each action that had begun and not ended when the backup was taken. */
  onUnfinished(entry: AuditEntry): Promise<void>;
}

export interface AfterRestore {
  /** Whose epoch was raised. */
  readonly brands: number;
  readonly sessions_ended: number;
  readonly links_deleted: number;
  /** That work. */
  readonly keys: number;
  /** The newest change that the database knows, RFC 3339: what happened later is lost. Null in an empty database. */
  readonly newest_change_at: string | null;
}

/**
 * Makes accounts' restored database safe to serve: no gateway trusts what it verified before, no session and no sign-in link of before opens
 * anything. Reports what may have been revoked or removed since. Safe to interrupt and repeat; a repetition ends the sessions made since.
 *
 * @throws RedisUnavailable, RedisReplyError; what was done before stays
 */
export async function afterRestore({ db, redis, onKey, onUnfinished }: AfterRestoreOptions): Promise<AfterRestore> {
  const brands = await raiseEpochs(db, redis);
  // One that was ended or used after the backup would work again.
  const sessions_ended = await repeatUntilNone(() => deleteAnySessions(db, BATCH_SIZE));
  const links_deleted = await repeatUntilNone(() => deleteUnusedLinks(db, BATCH_SIZE));
  const newestEntryAt = await newestAuditEntryAt(db);
  if (newestEntryAt !== null)
    for (const entry of await unfinishedAuditEntries(db, newestEntryAt, UNDER_WAY_SECONDS)) await onUnfinished(entry);
  const { keys, newestUseAt } = await reportKeys(db, onKey);
  return { brands, sessions_ended, links_deleted, keys, newest_change_at: latest(newestEntryAt, newestUseAt) };
}

async function reportKeys(db: Database, onKey: (key: Key) => Promise<void>): Promise<{ keys: number; newestUseAt: string | null }> {
  let keys = 0;
  let newestUseAt: string | null = null;
  for (let afterId = ""; ;) {
    const page = await pageOfUnrevokedKeys(db, afterId, BATCH_SIZE);
    for (const key of page) {
      await onKey(key);
      keys += 1;
      newestUseAt = latest(latest(newestUseAt, key.created_at), key.last_used_at);
    }
    const last = page.at(-1);
    if (last === undefined) return { keys, newestUseAt };
    afterId = last.id;
  }
}

/** Times of one format: RFC 3339 in UTC with milliseconds. */
const latest = (a: string | null, b: string | null): string | null => (a === null || (b !== null && b > a) ? b : a);

async function repeatUntilNone(work: () => Promise<number>): Promise<number> {
  let total = 0;
  for (let done = await work(); done > 0; done = await work()) total += done;
  return total;
}
