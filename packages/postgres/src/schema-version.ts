import pg from "pg";
import { MigrationError, type Migration } from "./migration-files.ts";

/** The migrations applied to the schema do not fit this release. Retrying does not help. */
export class SchemaMismatchError extends MigrationError {
  override readonly name = "SchemaMismatchError";
}

export interface AppliedMigration {
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
