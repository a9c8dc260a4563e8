import { randomBytes } from "node:crypto";
import pg from "pg";

/** First half of a template's advisory lock, which no other lock uses; the second half is the hash of its name. */
const TEMPLATE_LOCK = 7_405;

/** Names are at most 63 bytes long in Postgres; the run and the random part take the rest. */
const NAME = /^[a-z][a-z0-9_]{0,35}$/;

export interface TestDatabase {
  readonly url: string;
  /** Ends sessions that are still open. */
  drop(): Promise<void>;
}

/**
 * Creates a database by cloning the template `name` on the server at `$TEST_POSTGRES_URL`. The template is made once per test
 * run: the first call in any jest worker runs `prepare` on it, and the others wait. If `prepare` rejects, so does the call, and
 * the next call tries again. `prepare` must close its connections.
 *
 * @param name of the template: lower-case letters, digits and _, at most 36
 */
export async function createDatabase(name: string, prepare: (url: string) => Promise<void> = async () => {}): Promise<TestDatabase> {
  if (!NAME.test(name)) throw new TypeError(`${name}: must match ${NAME}`);
  const server = serverUrl();
  const template = `${runPrefix()}${name}`;
  const clone = `${template}_${randomBytes(6).toString("hex")}`;
  await withClient(server, async (client) => {
    if (!(await exists(client, template))) await makeTemplate(client, server, template, prepare);
    // Copying files takes 40 ms; the default, which also writes every page to the WAL, 270 ms.
    await client.query(`create database ${clone} template ${template} strategy file_copy`);
  });
  return { url: urlOf(server, clone), drop: () => withClient(server, (client) => dropDatabase(client, clone)) };
}

/** Drops the templates and clones of this run, also those that a failed test left, from a server that outlives the run. */
export async function dropDatabasesOfRun(): Promise<void> {
  await withClient(serverUrl(), async (client) => {
    const { rows } = await client.query<{ datname: string }>("select datname from pg_database where starts_with(datname, $1)", [
      runPrefix(),
    ]);
    for (const { datname } of rows) await dropDatabase(client, datname);
  });
}

/** Renames the template into place once it is prepared: an interrupted preparation is never cloned. */
async function makeTemplate(client: pg.Client, server: string, template: string, prepare: (url: string) => Promise<void>): Promise<void> {
  const unfinished = `${template}_0`;
  // Held until the session ends; by then the other workers find the template.
  await client.query("select pg_advisory_lock($1, hashtext($2))", [TEMPLATE_LOCK, template]);
  if (await exists(client, template)) return;
  await dropDatabase(client, unfinished);
  await client.query(`create database ${unfinished} strategy file_copy`);
  await prepare(urlOf(server, unfinished));
  await client.query(`alter database ${unfinished} rename to ${template}`);
}

async function exists(client: pg.Client, database: string): Promise<boolean> {
  const { rowCount } = await client.query("select from pg_database where datname = $1", [database]);
  return rowCount === 1;
}

async function dropDatabase(client: pg.Client, database: string): Promise<void> {
  await client.query(`drop database if exists ${database} with (force)`);
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: "tests" });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function serverUrl(): string {
  const url = process.env["TEST_POSTGRES_URL"];
  if (url === undefined) throw new Error("TEST_POSTGRES_URL is not set: jest's global setup starts a Postgres and sets it");
  return url;
}

function runPrefix(): string {
  return `test_${process.env["TEST_RUN"] ?? "0"}_`;
}

function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}
