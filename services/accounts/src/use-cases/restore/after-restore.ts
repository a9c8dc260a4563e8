import type { Database } from "@brand-records/postgres";
import type { RedisClient } from "@brand-records/redis";
import type { Key } from "../../domain/key.ts";
import type { LostRight, OpenQuestion } from "../../domain/lost-rights.ts";
import { raiseEpochs } from "../../epochs/epoch-publisher.ts";
import { beginAuditEpoch, newestAuditEntryAt } from "../../storage/audit-entries.ts";
import { pageOfUnrevokedKeys } from "../../storage/keys.ts";
import { deleteAnySessions } from "../../storage/sessions.ts";
import { acceptRestored } from "../../storage/restored.ts";
import { deleteUnusedLinks } from "../../storage/sign-in-links.ts";
import { applyLostRight, REQUEST_ID } from "./apply-lost-right.ts";
import { lostRightsInFiles, type AuditFiles } from "./audit-file.ts";

const BATCH_SIZE = 1_000;

export interface AfterRestoreOptions {
  readonly db: Database;
  /** Owns the schema, and may take the marker away. */
  readonly ownerDb: Database;
  /** Undefined: gateways cache nothing. */
  readonly redis: RedisClient | undefined;
  /** Say what has ended since the backup. Undefined: nothing does. */
  readonly audit: AuditFiles | undefined;
  /** Receives each right that the database had and has no more. */
  onTaken(lost: LostRight): Promise<void>;
  /** Receives each brand whose last owner was taken away. */
  onWithoutOwner(brandId: string): Promise<void>;
  /** Receives what a person must look at, at the end. */
  onOpen(question: OpenQuestion): Promise<void>;
  /** Receives each key that works: its revocation may be lost. In ascending order of id. */
  onKey(key: Key): Promise<void>;
}

export interface AfterRestore {
  /** Whose epoch was raised. */
  readonly brands: number;
  readonly keys_revoked: number;
  readonly members_removed: number;
  readonly owners_demoted: number;
  /** People whose accounts at providers were unlinked. */
  readonly people_unlinked: number;
  readonly brands_deleted: number;
  /** What a person must look at. */
  readonly to_look_at: number;
  readonly sessions_ended: number;
  readonly links_deleted: number;
  /** That work. */
  readonly keys: number;
  /** The newest change that the database knows, RFC 3339: what happened later is lost. Null in an empty database. */
  readonly newest_change_at: string | null;
}

/**
 * Makes accounts' restored database safe to serve: takes away again what has ended since the backup; no gateway trusts what it verified
 * before, no session and no sign-in link of before opens anything; lets accounts start. Reports what it cannot decide. Safe to interrupt and
 * repeat; a repetition ends the sessions made since.
 *
 * @throws ConfigError if what has ended cannot be read; RedisUnavailable, RedisReplyError; what was done before stays, and accounts does not start
 */
export async function afterRestore(options: AfterRestoreOptions): Promise<AfterRestore> {
  const { db, redis, audit, onKey } = options;
  const newestEntryAt = await newestAuditEntryAt(db, REQUEST_ID);
  const { lost, open } = audit === undefined ? { lost: [], open: [] } : await lostRightsInFiles(db, audit, newestEntryAt);
  // One that was ended or used after the backup would work again.
  const sessions_ended = await repeatUntilNone(() => deleteAnySessions(db, BATCH_SIZE));
  const links_deleted = await repeatUntilNone(() => deleteUnusedLinks(db, BATCH_SIZE));
  const taken = await takeLostRights(options, lost);
  const brands = await raiseEpochs(db, redis);
  const { keys, newestUseAt } = await reportKeys(db, onKey);
  for (const question of open) await options.onOpen(question);
  // Plans and webhook give it what they have recorded since the backup.
  await beginAuditEpoch(db);
  await acceptRestored(options.ownerDb);
  return {
    brands,
    ...taken,
    to_look_at: open.length,
    sessions_ended,
    links_deleted,
    keys,
    newest_change_at: latest(newestEntryAt, newestUseAt),
  };
}

const COUNTED_AS = {
  key: "keys_revoked",
  membership: "members_removed",
  ownership: "owners_demoted",
  identities: "people_unlinked",
  brand: "brands_deleted",
} as const satisfies Record<LostRight["right"], keyof AfterRestore>;

type Taken = Record<(typeof COUNTED_AS)[LostRight["right"]], number>;

async function takeLostRights({ db, onTaken, onWithoutOwner }: AfterRestoreOptions, lost: readonly LostRight[]): Promise<Taken> {
  const taken: Taken = { keys_revoked: 0, members_removed: 0, owners_demoted: 0, people_unlinked: 0, brands_deleted: 0 };
  const withoutOwner = new Set<string>();
  for (const right of lost) {
    const { isChanged, isWithoutOwner } = await applyLostRight(db, right);
    if (!isChanged) continue;
    taken[COUNTED_AS[right.right]] += 1;
    await onTaken(right);
    if (isWithoutOwner && right.right !== "identities") withoutOwner.add(right.brandId);
    if (right.right === "brand") withoutOwner.delete(right.brandId);
  }
  for (const brandId of withoutOwner) await onWithoutOwner(brandId);
  return taken;
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
