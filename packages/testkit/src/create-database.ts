import { randomBytes } from "node:crypto";
import pg from "pg";

/** First half of an advisory lock, so that a template's lock is no other lock; the second half is its name. */
const TEMPLATE_LOCK = 7_405;

/** What is left of Postgres' 63 bytes beside the run and the random part. */
const NAME = /^[a-z][a-z0-9_]{0,35}$/;

export interface TestDatabase {
  readonly url: string;
  /** Also while sessions are open: they are ended. */
  drop(): Promise<void>;
}

/**
 * A database of one's own, cloned from the template `name` on the server at `$TEST_POSTGRES_URL`. The template is made
 * once per test run: the first call anywhere runs `prepare` on it, and those in other jest workers wait for that one. If
 * `prepare` rejects, so does the call, and the next one tries anew. It must close its connections.
 *
 * @param name of the template: small letters, digits and _, at most 36
 */
export async function createDatabase(name: string, prepare: (url: string) => Promise<void> = async () => {}): Promise<TestDatabase> {
  if (!NAME.test(name)) throw new TypeError(`${name}: must match ${NAME}`);
  const server = serverUrl();
  const template = `${runPrefix()}${name}`;
  const clone = `${template}_${randomBytes(6).toString("hex")}`;
  await withClient(server, async (client) => {
    if (!(await exists(client, template))) await makeTemplate(client, server, template, prepare);
    // Copying files took 40 ms, writing every page to the log as well, the default, 270 ms.
    await client.query(`create database ${clone} template ${template} strategy file_copy`);
  });
  return { url: urlOf(server, clone), drop: () => withClient(server, (client) => dropDatabase(client, clone)) };
}

/** Templates and clones of this run, also those a failed test left: for a server that outlives the run. */
export async function dropDatabasesOfRun(): Promise<void> {
  await withClient(serverUrl(), async (client) => {
    const { rows } = await client.query<{ datname: string }>("select datname from pg_database where starts_with(datname, $1)", [
      runPrefix(),
    ]);
    for (const { datname } of rows) await dropDatabase(client, datname);
  });
}

/** The template is renamed into place, so nobody clones one whose preparation was cut short. */
async function makeTemplate(client: pg.Client, server: string, template: string, prepare: (url: string) => Promise<void>): Promise<void> {
  const unfinished = `${template}_0`;
  // Held until the session ends; the others find the template then.
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
