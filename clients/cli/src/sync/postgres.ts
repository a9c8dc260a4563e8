import type pg from "pg";
import { UsageFailure } from "@brand-records/command-line";
import { copyFailed, underWay, type CopyDatabase, type Query } from "./copy-database.ts";

const CONNECT_MS = 10_000;
const SCHEMA = "brand_copy";
/** Advisory locks: of the session that walks, and of the transaction that writes. */
const LOCKS = { walk: `hashtext('${SCHEMA}'), 1`, write: `hashtext('${SCHEMA}'), 2` };

/** Opens the schema `brand_copy` of a database, over one connection: with it, the lock ends too. @throws UsageFailure without the package pg */
export async function openPostgres(url: string): Promise<CopyDatabase> {
  const { Client } = await importPg();
  const { host, pathname } = new URL(url);
  const name = `${SCHEMA} in ${host}${pathname}`;
  const client = new Client({
    connectionString: url,
    application_name: "brand-records sync",
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
  });
  let lost: Error | undefined;
  // Without a listener, losing the connection ends the process. The next statement fails, and says less of why.
  client.on("error", (error) => (lost ??= error));
  const fail = (error: unknown): never => {
    throw copyFailed(name, lost ?? error);
  };
  const query: Query = async (statement, values = []) =>
    (await client.query<Record<string, unknown>>(statement, [...values]).catch(fail)).rows;
  await client.connect().catch(fail);
  return {
    name,
    dialect: {
      json: "jsonb",
      field: (name, kind) => `cast(record ->> '${name}' as ${{ number: "bigint", time: "timestamptz", text: "text" }[kind]})`,
      elements: "jsonb_array_elements(cast($2 as jsonb)) as element (value)",
      setup: [`create schema if not exists ${SCHEMA}`],
    },
    async hasTables(query) {
      const [found] = await query(`select to_regclass('${SCHEMA}.to_read') as copy, to_regclass('${SCHEMA}.records') as records`);
      if (found?.["copy"] != null) return true;
      if (found?.["records"] == null) return false;
      throw new UsageFailure(`${name} is no copy: it has other tables`, `Rename it: alter schema ${SCHEMA} rename to another`);
    },
    async lock() {
      const [row] = await query(`select pg_try_advisory_lock(${LOCKS.walk}) as locked`);
      if (row?.["locked"] !== true) throw underWay(name);
    },
    async transaction(work) {
      try {
        await query("begin");
        // An event that is merged beside a page would undo what the page brings.
        await query(`select pg_advisory_xact_lock(${LOCKS.write})`);
        await query(`set local search_path = ${SCHEMA}`);
        const result = await work(query);
        await query("commit");
        return result;
      } catch (error) {
        // Where this fails too, the connection is lost.
        await query("rollback").catch(() => {});
        throw error;
      }
    },
    close: () => client.end(),
  };
}

/** A peer that need not be installed: most copies are SQLite's. */
async function importPg(): Promise<typeof pg> {
  try {
    return (await import("pg")).default;
  } catch {
    throw new UsageFailure(
      "Postgres needs the package pg",
      "npm install --global pg, or without --global where the command line is installed so.",
    );
  }
}
