import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

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
