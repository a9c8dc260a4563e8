import { appendFile, cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Release } from "./fleet.ts";

/** A table of each service, to which a release may add. */
const TABLES = { accounts: "accounts.keys", plans: "plans.plans", records: "records.submissions", webhook: "webhook.lanes" } as const;
/** What stands for code that no migration changes. */
const SHARED = ["gateway", "console", "packages", "node_modules", "package.json"];

/**
 * Makes a release after the one of this checkout: the same programs, whose services have a migration that works with this release, and an
 * index that is built after the start.
 */
export async function makeNextRelease(): Promise<{ readonly release: Release; remove(): Promise<void> }> {
  const release = await mkdtemp(join(tmpdir(), "brand-records-next-"));
  await mkdir(join(release, "services"));
  for (const name of SHARED) await symlink(join(process.cwd(), name), join(release, name));
  for (const [service, table] of Object.entries(TABLES)) {
    const folder = join(release, "services", service);
    await cp(join(process.cwd(), "services", service, "dist/bundle"), join(folder, "dist/bundle"), { recursive: true });
    await cp(join(process.cwd(), "services", service, "migrations"), join(folder, "migrations"), { recursive: true });
    const count = (await readdir(join(folder, "migrations"))).filter((name) => /^\d/.test(name)).length;
    const migration = `-- works-with-schema: ${count}\nalter table ${table} add column of_next_release text;\n`;
    await writeFile(join(folder, "migrations", `${String(count + 1).padStart(4, "0")}-next-release.sql`), migration);
    const index = `create index of_next_release on ${table} (of_next_release) where of_next_release is not null;\n`;
    await appendFile(join(folder, "migrations/late-indexes.sql"), index);
  }
  return { release, remove: () => rm(release, { recursive: true }) };
}

/** SQL of the names of the services' schemas in which the index of the next release is built. */
export const WITH_INDEX_OF_NEXT = `
  select n.nspname as schema from pg_index x join pg_class c on c.oid = x.indexrelid join pg_namespace n on n.oid = c.relnamespace
   where c.relname = 'of_next_release' and x.indisvalid order by 1`;
