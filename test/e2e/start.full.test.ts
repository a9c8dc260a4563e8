import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { openPool } from "@brand-records/postgres";
import { freePort } from "@brand-records/postgres/embedded";
import { createDatabase, eventually, startPostgresServer, type PostgresServer, type TestDatabase } from "@brand-records/testkit";

/** One promise: a service waits for its database and its schema, live and not ready, and ends at once if the settings are wrong. */

interface Started {
  readonly child: ChildProcess;
  readonly adminPort: number;
  readonly exited: Promise<unknown[]>;
  output(): string;
}

const running: Started[] = [];
afterEach(async () => {
  for (const { child, exited } of running.splice(0)) {
    child.kill("SIGKILL");
    await exited;
  }
});

/** Starts a program of a service, without waiting until it is ready. */
async function start(service: string, env: Record<string, string>, program = "bundle/main"): Promise<Started> {
  const adminPort = await freePort();
  const script = join(process.cwd(), "services", service, `dist/${program}.js`);
  const child = spawn(process.execPath, [script], {
    env: { PATH: process.env["PATH"], STOP_GRACE_MS: "0", ADMIN_PORT: String(adminPort), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const started = { child, adminPort, exited: once(child, "close"), output: () => output };
  running.push(started);
  return started;
}

/** Resolves when the probe has this status. */
const probed = ({ child, adminPort, output }: Started, path: string, status: number): Promise<void> =>
  eventually(async () => {
    if (child.exitCode !== null) throw new Error(`the process ended with ${child.exitCode}:\n${output()}`);
    expect((await fetch(`http://127.0.0.1:${adminPort}${path}`)).status).toBe(status);
  });

/** Every program, and a setting that it does not start without. */
const REQUIRED = [
  ["../gateway", "bundle/main", "ACCOUNTS_ADDRESS"],
  ["../console/server", "bundle/main", "ACCOUNTS_ADDRESS"],
  ...["accounts", "plans", "records", "webhook"].flatMap((service) => [
    [service, "bundle/main", "DATABASE_URL"],
    [service, "migrate", "MIGRATION_DATABASE_URL"],
  ]),
  ["webhook", "re-encrypt", "DATABASE_URL"],
] as [string, string, string][];

it.each(REQUIRED)("%s ends with 78 and names what is missing: %s without %s", async (service, program, setting) => {
  const { exited, output } = await start(service, {}, program);
  expect(await exited).toEqual([78, null]);
  expect(output()).toMatch(new RegExp(`^Invalid settings:\n(  .*\n)*  ${setting}: `, "m"));
  expect(output()).not.toContain("    at ");
});

describe("while its database is away", () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgresServer();
    await postgres.kill();
  });
  afterAll(() => postgres.stop());

  it("stops with 0 on SIGTERM; else it says once that it waits, and becomes ready when the database is there", async () => {
    const env = { DATABASE_URL: postgres.url };
    const [stopping, waiting] = await Promise.all([start("records", env), start("records", env)]);
    for (const process of [stopping, waiting]) {
      await probed(process, "/healthz", 200);
      await probed(process, "/readyz", 503);
    }
    stopping.child.kill("SIGTERM");
    expect(await stopping.exited).toEqual([0, null]);
    await postgres.start();
    await probed(waiting, "/readyz", 200);
    expect(waiting.output().match(/waiting for the database/g)).toHaveLength(1);
    await eventually(() => expect(waiting.output()).toContain("the database is ready"));
  });
});

describe("with a login of its own that owns the schema", () => {
  // Roles belong to the server, which other runs share.
  const [owner, login] = [`webhook_owner_${process.pid}`, `webhook_${process.pid}`];
  let database: TestDatabase;
  const as = (username: string): string => Object.assign(new URL(database.url), { username, password: "pw" }).href;
  const asSuperuser = async <T>(work: (db: ReturnType<typeof openPool>) => Promise<T>): Promise<T> => {
    const db = openPool({ url: database.url, max: 1, applicationName: "tests" });
    try {
      return await work(db);
    } finally {
      await db.stop();
    }
  };
  beforeAll(async () => {
    database = await createDatabase("empty");
    await asSuperuser(async (db) => {
      await db.query(`create role ${owner} login password 'pw'; create role ${login} login password 'pw'`);
      await db.query(`grant create on database ${new URL(database.url).pathname.slice(1)} to ${owner}`);
    });
  });
  afterAll(async () => {
    await asSuperuser(async (db) => {
      await db.query(`drop owned by ${owner}, ${login} cascade`);
      await db.query(`drop role ${owner}, ${login}`);
    });
    await database.drop();
  });

  it("migrate.js migrates, and the service, which waited for it, works and keeps its partitions with a login that owns nothing", async () => {
    const webhook = await start("webhook", {
      DATABASE_URL: as(login),
      MIGRATE_AT_START: "false",
      ACCOUNTS_ADDRESS: "127.0.0.1:1",
      RECEIVER_SECRET_KEYS: `1:${randomBytes(32).toString("base64")}`,
    });
    await eventually(() => expect(webhook.output()).toContain("waiting for the database"));
    await probed(webhook, "/readyz", 503);
    const migrating = await start("webhook", { DATABASE_URL: as(login), MIGRATION_DATABASE_URL: as(owner) }, "migrate");
    expect(await migrating.exited).toEqual([0, null]);
    await probed(webhook, "/readyz", 200);
    const metrics = async (): Promise<string> => (await fetch(`http://127.0.0.1:${webhook.adminPort}/metrics`)).text();
    for (const task of ["create partitions", "drop old days", "build indexes"]) {
      await eventually(async () =>
        expect(await metrics()).toMatch(new RegExp(`^maintenance_last_success_timestamp_seconds\\{.*task="${task}".*\\} [1-9]`, "m")),
      );
    }
    await asSuperuser(async (db) => {
      const owners = "select distinct tableowner from pg_tables where schemaname = 'webhook' and tablename like 'events_%'";
      expect(await db.query(owners)).toEqual([{ tableowner: owner }]);
    });
  });

  it.each([
    ["migrate", { MIGRATION_DATABASE_URL: "postgres://stranger:wrong@127.0.0.1/postgres?sslmode=verify-full&sslrootcert=/no/such.pem" }],
    ["migrate", {}],
    ["bundle/main", { DATABASE_URL: "postgres://stranger:wrong@SERVER/postgres" }],
    ["bundle/main", { DATABASE_URL: "postgres://stranger@127.0.0.1/postgres", RPC_TLS_CERT: "/no", RPC_TLS_KEY: "/no", RPC_TLS_CA: "/no" }],
  ])("%s ends with 78 and names the setting that is wrong: %j", async (program, env: Record<string, string>) => {
    const { host } = new URL(database.url);
    const given = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value.replace("SERVER", host)]));
    const process = await start("records", given, program);
    expect(await process.exited).toEqual([78, null]);
    expect(process.output()).toMatch(/Invalid settings:\n {2}(MIGRATION_DATABASE_URL|DATABASE_URL|RPC_TLS_\w+): /);
    expect(process.output()).not.toContain("wrong@");
  });
});
