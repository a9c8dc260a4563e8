import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";

export class MigrationError extends Error {
  override readonly name: string = "MigrationError";
}

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
  /** The oldest version of the schema whose release works with this migration; null if it does not say. */
  readonly worksWith: number | null;
}

/** Beside the migrations: the indexes that are built after the start. It may change with every release. */
export const LATE_INDEXES = "late-indexes.sql";

/** The first line of a migration: releases whose own migrations end at this number or later work with it. */
const WORKS_WITH = /^-- works-with-schema: (\d+)$/m;

/**
 * Reads `0001-name.sql`, `0002-…` of a folder.
 *
 * @throws MigrationError if a number is missing or repeated, or if a migration claims to work with a later schema than its own
 */
export async function readMigrations(directory: string): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".sql") && name !== LATE_INDEXES).toSorted();
  return Promise.all(
    names.map(async (name, index) => {
      const version = Number(/^(\d{4})-[a-z0-9-]+\.sql$/.exec(name)?.[1]);
      if (version !== index + 1) throw new MigrationError(`${name}: number migrations 0001-name.sql, 0002-…, without gaps`);
      const sql = await readFile(join(directory, name), "utf8");
      const worksWith = worksWithOf(sql);
      if (worksWith !== null && (worksWith < 1 || worksWith > version)) {
        throw new MigrationError(`${name}: works-with-schema must be from 1 to ${version}`);
      }
      return { version, name, sql, checksum: createHash("sha256").update(sql).digest("hex"), worksWith };
    }),
  );
}

function worksWithOf(sql: string): number | null {
  const [, version] = WORKS_WITH.exec(sql.slice(0, sql.indexOf("\n"))) ?? [];
  return version === undefined ? null : Number(version);
}

/** The migrations applied to the schema do not fit this release. Retrying does not help. */
export class SchemaMismatchError extends MigrationError {
  override readonly name = "SchemaMismatchError";
}

interface AppliedMigration {
  readonly version: number;
  readonly checksum: string;
  readonly works_with: number | null;
}

export const migrationsTable = (schema: string): string => `${pg.escapeIdentifier(schema)}.schema_migrations`;

/** Returns what was applied to a schema, oldest first; nothing if it does not exist. */
export async function appliedMigrations(client: pg.Client, schema: string): Promise<AppliedMigration[]> {
  const table = migrationsTable(schema);
  const { rows: found } = await client.query("select 1 where to_regclass($1) is not null", [table]);
  if (found.length === 0) return [];
  const { rows } = await client.query<AppliedMigration>(`select version, checksum, works_with from ${table} order by version`);
  return rows;
}

/**
 * Returns the migrations of this release that the schema lacks. It may be ahead of this release, if each migration that this release
 * does not know says that it works with it: so a process of the release before may start again during an update, and after a rollback.
 *
 * @throws SchemaMismatchError if the schema is ahead otherwise, or was made by other migrations
 */
export function pendingMigrations(schema: string, known: readonly Migration[], applied: readonly AppliedMigration[]): readonly Migration[] {
  for (const { version, checksum } of applied) {
    const migration = known[version - 1];
    if (migration !== undefined && migration.checksum !== checksum) {
      throw new SchemaMismatchError(
        `The database schema "${schema}" was created by an incompatible release: its ${migration.name} differs from this release's. ` +
          `On a laptop, run "npm run reset": it deletes the local database and its records. Elsewhere, run the release that created the ` +
          `database. If you edited the file, restore it and add a new migration.`,
      );
    }
  }
  const refusing = applied.slice(known.length).find(({ works_with }) => works_with === null || works_with > known.length);
  if (refusing !== undefined) {
    throw new SchemaMismatchError(
      `The database schema "${schema}" is at version ${applied.length}, newer than this release (${known.length}), and its migration ` +
        `${refusing.version} does not work with this release. Run the newer release.`,
    );
  }
  return known.slice(applied.length);
}
