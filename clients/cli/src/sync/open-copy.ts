import { UsageFailure } from "@brand-records/command-line";
import { Copy } from "./copy.ts";
import { openPostgres } from "./postgres.ts";
import { openSqlite } from "./sqlite.ts";

/**
 * Opens the copy in a file, or in the database of a URL.
 *
 * @param isArgument every user of the machine can read arguments: they may have no password
 * @param walks it may make the copy, and must be the only one that walks
 * @throws UsageFailure if there can be no copy, CommandFailure `sync_under_way`
 */
export async function openCopy(target: string, isArgument: boolean, walks: boolean): Promise<Copy> {
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(target);
  if (isUrl) requirePostgresUrl(target, isArgument);
  const db = isUrl ? await openPostgres(target) : await openSqlite(target, walks);
  try {
    if (walks) await db.lock();
    return await Copy.open(db);
  } catch (error) {
    await db.close();
    throw error;
  }
}

function requirePostgresUrl(text: string, isArgument: boolean): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new UsageFailure("--db must be a file, or a URL of Postgres", "Such as postgres://reports@db.example/reports");
  }
  if (!isArgument || url.password + (url.searchParams.get("password") ?? "") === "") return;
  const hint = "Set BRAND_RECORDS_DB to the whole URL and leave out --db, or set PGPASSWORD.";
  throw new UsageFailure("--db has a password, which every user of the machine can read", hint);
}
