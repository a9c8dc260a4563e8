import type * as sqlite from "node:sqlite";
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { errorCode, errorReason, printable, unwritable, UsageFailure } from "@brand-records/command-line";
import { EXPORT_MODE } from "../export/export-state.ts";
import { copyFailed, underWay, type CopyDatabase, type Query } from "./copy-database.ts";

/** Milliseconds for which a statement waits while another process writes a page or an event. */
const BUSY_MS = 30_000;
/** A table of every copy. */
const TABLE = "to_read";

/** @param create whether the file may be missing @throws UsageFailure */
export async function openSqlite(path: string, create: boolean): Promise<CopyDatabase> {
  const { DatabaseSync } = await importSqlite();
  const name = printable(path);
  await requireFile(path, create);
  // A relative path may have a meaning of its own, as :memory: has.
  const file = resolve(path);
  const db = openFile(DatabaseSync, file, name);
  let held: sqlite.DatabaseSync | undefined;
  const query: Query = async (statement, values = []) =>
    db.prepare(statement).all(Object.fromEntries(values.map((value, at) => [`$${at + 1}`, value])));
  return {
    name,
    // One view with ->> makes the whole file unreadable for a SQLite before 3.38.
    dialect: { json: "text", field: (name) => `json_extract(record, '$.${name}')`, elements: "json_each($2)", setup: [] },
    hasTables: async (query) => (await query(`select 1 from sqlite_master where name = '${TABLE}'`)).length > 0,
    /** Holds a lock of SQLite's, which ends with the process, also if it is killed. */
    async lock() {
      held = new DatabaseSync(`${file}.lock`);
      try {
        held.exec("begin exclusive");
      } catch (error) {
        throw errorReason(error).includes("locked") ? underWay(name) : copyFailed(`${name}.lock`, error);
      }
    },
    async transaction(work) {
      try {
        db.exec("begin immediate");
        const result = await work(query);
        db.exec("commit");
        return result;
      } catch (error) {
        rollBack(db);
        throw copyFailed(name, error);
      }
    },
    async close() {
      db.close();
      held?.close();
    },
  };
}

async function importSqlite(): Promise<typeof sqlite> {
  const { emitWarning } = process;
  // Node.js up to 24 warns on standard error that its module is experimental, which the reader can do nothing about.
  process.emitWarning = () => {};
  try {
    return await import("node:sqlite");
  } catch {
    const hint = "Run the command with a newer Node.js, or copy into Postgres: --db postgres://…";
    throw new UsageFailure(`SQLite needs Node.js 22.13 or later, and this is ${process.versions.node}`, hint);
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Makes the file, for its owner alone. @throws UsageFailure if that is not possible */
async function requireFile(path: string, create: boolean): Promise<void> {
  try {
    await (await open(path, create ? "a" : "r+", EXPORT_MODE)).close();
  } catch (error) {
    if (!create && errorCode(error) === "ENOENT")
      throw new UsageFailure(`${printable(path)} is no copy yet`, "First run the command without --event.");
    throw new UsageFailure(unwritable(path, error).message);
  }
}

/** @throws UsageFailure unless the file is a copy, or an empty database */
function openFile(Database: typeof sqlite.DatabaseSync, file: string, name: string): sqlite.DatabaseSync {
  const db = new Database(file);
  try {
    db.exec(`pragma busy_timeout = ${BUSY_MS}`);
    const tables = db.prepare("select name from sqlite_master where type = 'table'").all();
    if (tables.some((table) => table["name"] === TABLE)) return db;
    if (tables.length > 0) throw new Error("it has other tables");
    // Others may read the copy during a walk.
    db.exec("pragma journal_mode = wal");
    return db;
  } catch (error) {
    db.close();
    throw new UsageFailure(`${name} is no copy: ${errorReason(error)}`, "Name another file: sync makes it.");
  }
}

function rollBack(db: sqlite.DatabaseSync): void {
  try {
    db.exec("rollback");
  } catch {
    // SQLite has rolled back by itself, as it does on a full disk.
  }
}
