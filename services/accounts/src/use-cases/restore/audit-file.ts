import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { ConfigError } from "@brand-records/config";
import type { Sql } from "@brand-records/postgres";
import { parsedJson } from "@brand-records/resources";
import { z } from "zod";
import { AUDIT_OUTCOMES } from "../../domain/audit-entry.ts";
import { lostRights, concernsRights, type LostRights, type RightsEntry } from "../../domain/lost-rights.ts";
import { endedAmong } from "../../storage/audit-entries.ts";

const DAY_MS = 24 * 3_600_000;
/** Ids of entries that are looked up at a time. */
const BATCH_SIZE = 1_000;

const nullable = <Field extends z.ZodType>(field: Field) => field.nullish().transform((value) => value ?? null);

/** What matters here of a line of `brandctl audit export`. */
const line = z.object({
  id: z.string().regex(/^aud_[0-9a-z]{1,40}$/),
  brand_id: z.string(),
  actor: nullable(z.string()),
  action: z.string(),
  subject_id: nullable(z.string()),
  created_at: z.iso.datetime(),
  finished_at: nullable(z.iso.datetime()),
  outcome: nullable(z.enum(AUDIT_OUTCOMES)),
  role: nullable(z.string()),
});

export interface AuditFiles {
  /** Exports of the audit log, oldest first. */
  readonly paths: readonly string[];
  /** Days for which the database keeps entries. */
  readonly keepDays: number;
  /** Whether the files may end before the database's newest entry, or begin after it. */
  readonly mayHaveGap: boolean;
}

/**
 * Reads which rights have ended by exports of the audit log, oldest first. Leaves out what the restored database knows: entries that it has
 * with their outcome, and those that it keeps no longer.
 *
 * @param newestAt time of the newest entry of the restored audit log but those of earlier runs, RFC 3339; null: there is none
 * @throws ConfigError if a file cannot be read, has a line that is no entry, or leaves a gap; a last line that a kill has cut off is left out
 */
export async function lostRightsInFiles(
  sql: Sql,
  { paths, keepDays, mayHaveGap }: AuditFiles,
  newestAt: string | null,
): Promise<LostRights> {
  const keptSince = newestAt === null ? "" : new Date(Date.parse(newestAt) - keepDays * DAY_MS).toISOString();
  const entries: RightsEntry[] = [];
  const span = { from: "~", until: "" };
  for (const path of paths) {
    for await (const entry of entriesIn(path)) {
      const changedAt = entry.finished_at ?? entry.created_at;
      if (changedAt < span.from) span.from = changedAt;
      if (changedAt > span.until) span.until = changedAt;
      if (concernsRights(entry.action) && entry.created_at >= keptSince) entries.push(entry);
    }
  }
  if (newestAt !== null && !mayHaveGap) requireNoGap(span, newestAt);
  const known = new Set<string>();
  for (let start = 0; start < entries.length; start += BATCH_SIZE) {
    const ids = entries.slice(start, start + BATCH_SIZE).map(({ id }) => id);
    for (const id of await endedAmong(sql, ids)) known.add(id);
  }
  return lostRights(entries.filter(({ id }) => !known.has(id)));
}

function requireNoGap({ from, until }: { readonly from: string; readonly until: string }, newestAt: string): void {
  const refuse = (gap: string): never => {
    throw new ConfigError([`--audit: ${gap}. With --incomplete they are applied as they are`]);
  };
  const newest = `the newest of the restored database, ${newestAt}`;
  if (until < newestAt)
    refuse(`the last entry of the files is of ${until}, before ${newest}: they do not say what has happened since the backup`);
  if (from > newestAt) refuse(`the first entry of the files is of ${from}, after ${newest}: name the files before, too`);
}

async function* entriesIn(path: string): AsyncGenerator<RightsEntry> {
  const problem = (text: string): ConfigError => new ConfigError([`--audit: ${path} ${text}`]);
  const input = createReadStream(path, "utf8");
  let number = 0;
  let broken: number | undefined;
  try {
    for await (const text of createInterface({ input, crlfDelay: Infinity })) {
      number += 1;
      if (broken !== undefined) throw problem(`line ${broken} is no entry of brandctl audit export`);
      const entry = parsed(text);
      if (entry === undefined) broken = number;
      else yield entry;
    }
  } catch (error) {
    throw error instanceof ConfigError ? error : problem(`cannot be read: ${(error as NodeJS.ErrnoException).code ?? "it is no text"}`);
  }
  // One line alone that is no entry is another file, not a cut-off export.
  if (broken !== undefined && number === 1) throw problem("line 1 is no entry of brandctl audit export");
  if (number === 0) throw problem("is empty: an export that reached the backup has entries");
}

const parsed = (text: string): RightsEntry | undefined => line.safeParse(parsedJson(text)).data;
