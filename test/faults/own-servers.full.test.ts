import { randomBytes } from "node:crypto";
import { openPool, type Database } from "@brand-records/postgres";
import { eventually, startPostgresServer, type PostgresServer } from "@brand-records/testkit";
import { startFakeReceivers, type FakeReceivers } from "../fake-receivers.ts";
import { planInput, postPlan } from "../plan-input.ts";
import { startClients } from "../clients-in-turn.ts";
import { seedBrand } from "../seed-brand.ts";
import { ensureBackingServices } from "../setup/ensure-backing-services.ts";
import { startStack, type ServiceName, type Stack, type TestBrand } from "../stack.ts";
import { commandWith, documentedCommands, runIn, SERVICES } from "./restore-harness.ts";

/** One promise: a service moves to a server of its own by the commands of docs/operations.md, and nothing is lost. */

const PASSWORD = "own-servers";
const ADD_PENDING = `
  insert into records.submissions
  select (jsonb_populate_record(null::records.submissions, one || jsonb_build_object('id', 'sub_pending' || i))).*
    from (select to_jsonb(s) as one from records.submissions s where brand_id = $1 and status = 'pending' limit 1) s, generate_series(1, 4000) i`;
/** Writes as the platform does. */
const PLATFORM = "platform_backend";

let servers: { old: PostgresServer; own: PostgresServer };
let binDir: string;
let stack: Stack;
let receivers: FakeReceivers;
let brand: TestBrand;
let commands: readonly string[];
/** Read at each start of a process. */
let envOf: Record<ServiceName, Record<string, string>>;

const urlOf = (server: PostgresServer, username: string): string =>
  Object.assign(new URL(server.url), { username, password: PASSWORD, pathname: "/brand_records" }).href;
const adminOf = (server: PostgresServer): string => Object.assign(new URL(server.url), { pathname: "/brand_records" }).href;

const environment = (): Record<string, string> => ({
  ADMIN_URL: adminOf(servers.old),
  NEW_SERVER_URL: servers.own.url,
  NEW_ADMIN_URL: adminOf(servers.own),
  PATH: `${binDir}:${process.env["PATH"]}`,
});
const command = (words: string, replaced: Readonly<Record<string, string>> = {}, env: Record<string, string> = {}): Promise<string> =>
  runIn(process.cwd(), commandWith(commands, words, replaced), { ...environment(), ...env });

async function onPool<T>(url: string, work: (db: Database) => Promise<T>): Promise<T> {
  const db = openPool({ url, applicationName: "test", max: 1 });
  try {
    return await work(db);
  } finally {
    await db.stop();
  }
}

beforeAll(async () => {
  binDir = (await ensureBackingServices("postgres")).get("POSTGRES_BIN") ?? "";
  commands = await documentedCommands("A server for each service");
  const [old, own, started] = await Promise.all([
    startPostgresServer({ binDir, settings: { wal_level: "logical" } }),
    startPostgresServer({ binDir }),
    startFakeReceivers(() => "accepted"),
  ]);
  servers = { old, own };
  receivers = started;
  await runIn(process.cwd(), `psql "${old.url}" -c 'create database brand_records'`, environment());
  const passwords = Object.fromEntries([...SERVICES, "platform"].map((name) => [`${name.toUpperCase()}_DB_PASSWORD`, PASSWORD]));
  await runIn(process.cwd(), 'psql "$ADMIN_URL" -v ON_ERROR_STOP=1 -f deploy/compose/roles.sql', { ...environment(), ...passwords });
  envOf = {
    accounts: { KEY_PEPPERS: `1:${randomBytes(32).toString("base64")}` },
    plans: {},
    records: {},
    webhook: { RECEIVER_SECRET_KEYS: `1:${randomBytes(32).toString("base64")}`, RECEIVERS_ON_LOOPBACK: "true" },
  };
  for (const service of SERVICES) envOf[service] = { ...envOf[service], DATABASE_URL: urlOf(old, service) };
  stack = await startStack({
    database: { url: urlOf(old, "records"), drop: async () => {} },
    kafkaBrokers: process.env["TEST_KAFKA_BROKERS"] ?? "",
    redisUrl: process.env["TEST_REDIS_URL"] ?? "",
    env: { RATE_LIMIT_PLUS: "100000" },
    envOf,
  });
  brand = await stack.createBrand({ permissions: ["campaigns:prepare"] });
  await seedBrand(stack, brand.id);
  await stack.addReceiver(brand, receivers.urlOf(0), ["submission.approved"], "First");
  await command("platform-role.sql", {}, { NEW_ADMIN_URL: adminOf(old) });
  await onPool(urlOf(old, "accounts"), async (accounts) => {
    await accounts.query(`grant usage on schema accounts to ${PLATFORM}`);
    await accounts.query(`grant select (id, cell) on accounts.brands to ${PLATFORM}`);
  });
  await onPool(urlOf(old, "records"), (records) => records.query(ADD_PENDING, [brand.id]));
}, 240_000);
afterAll(async () => {
  await stack.stop();
  await Promise.all([servers.old.stop(), servers.own.stop(), receivers.stop()]);
});

const statusOf = async (): Promise<number> => (await stack.get("/api/v1/submissions?limit=5", brand.key)).status;
const countIn = async (db: Database, condition: string): Promise<number> =>
  (await db.query<{ n: number }>(`select count(*)::int as n from records.submissions where ${condition}`))[0]?.n ?? -1;

/** Approves pending submissions, one after another. What fails is tried again, where `writeTo` says. */
function startWriter() {
  const open = (url: string): Database => openPool({ url, applicationName: "platform", max: 1 });
  let pool = open(urlOf(servers.old, PLATFORM));
  const written: string[] = [];
  const statement = `update records.submissions set status = 'approved', reviewed_at = now(), updated_at = now()
    where (brand_id, id) = (select brand_id, id from records.submissions where brand_id = $1 and status = 'pending' limit 1) returning id`;
  const approving = startClients(1, async () => {
    const rows = await pool.query<{ id: string }>(statement, [brand.id]).catch(() => []);
    written.push(...rows.map(({ id }) => id));
    // Pages are read at the same time.
    await statusOf();
  });
  return {
    written,
    async writeTo(url: string) {
      const before = pool;
      pool = open(url);
      await before.stop();
    },
    async stop() {
      await approving.stop();
      await pool.stop();
      return written;
    },
  };
}

const arrived = (): Set<string> => new Set(receivers.arrivals.map(({ record }) => record));
const untilArrived = (ids: readonly string[]): Promise<void> =>
  eventually(() => expect(ids.filter((id) => !arrived().has(id))).toEqual([]), { timeoutMs: 60_000 });

it("makes the database on the new server", async () => {
  await command("create database brand_records");
  for (const service of SERVICES) await command("create role SERVICE", { SERVICE: service, NEW_PASSWORD: PASSWORD });
  await command("create role platform_backend", { NEW_PASSWORD: PASSWORD });
});

it.each<ServiceName>(["webhook", "plans", "accounts"])(
  "moves %s by a dump",
  async (service) => {
    const input = planInput();
    const before = await postPlan(stack.url, brand.key, input);
    expect(before.status).toBe(201);
    const { plan_id } = (await before.json()) as { plan_id: string };

    await stack.processes[service].kill("SIGTERM");
    envOf[service] = { ...envOf[service], DATABASE_URL: urlOf(servers.own, service) };
    await command("pg_dump --format=custom", { SERVICE: service });
    if (service === "accounts") {
      const redis = { REDIS_URL: process.env["TEST_REDIS_URL"] ?? "" };
      await expect(stack.restart("accounts")).rejects.toThrow("exit code 78");
      await command("after-restore.js", {}, { ...envOf.accounts, ...redis });
    }
    await stack.restart(service);
    await command("rename to SERVICE_before", { SERVICE: service });
    if (service === "accounts")
      expect(
        await onPool(urlOf(servers.own, PLATFORM), (db) => db.query("select cell from accounts.brands where id = $1", [brand.id])),
      ).toEqual([{ cell: null }]);

    await eventually(async () => expect(await statusOf()).toBe(200));
    // The gateway connects to a process again after a pause.
    await eventually(async () => {
      const again = await postPlan(stack.url, brand.key, input);
      expect([again.status, ((await again.json()) as { plan_id: string }).plan_id]).toEqual([200, plan_id]);
    });
    const writer = startWriter();
    await eventually(() => expect(writer.written.length).toBeGreaterThan(1));
    await untilArrived(await writer.stop());
  },
  120_000,
);

it("moves records by replication under changes, of which none is lost", async () => {
  const writer = startWriter();
  await eventually(() => expect(writer.written.length).toBeGreaterThan(2));
  await command("pg_dump --schema-only");
  await command("create publication");
  await command("create subscription");
  await eventually(async () => expect((await command("pg_subscription_rel")).trim()).toBe("0"), { timeoutMs: 60_000 });
  const followed = writer.written.length;
  await eventually(() => expect(writer.written.length).toBeGreaterThan(followed + 2));

  await stack.processes.records.kill("SIGTERM");
  await command("alter role records nologin");
  const place = (await command("pg_current_wal_insert_lsn")).trim();
  await eventually(async () => expect((await command("confirmed_flush_lsn", { PLACE: place })).trim()).toBe("t"), { timeoutMs: 60_000 });
  await command("pg_sequences");
  await command("drop subscription");
  await command("drop publication");
  await command("platform-role.sql");
  envOf.records = { ...envOf.records, DATABASE_URL: urlOf(servers.own, "records") };
  await stack.restart("records");
  await writer.writeTo(urlOf(servers.own, PLATFORM));
  await command("rename to SERVICE_before", { SERVICE: "records" });

  const moved = writer.written.length;
  await eventually(() => expect(writer.written.length).toBeGreaterThan(moved + 2), { timeoutMs: 60_000 });
  const written = await writer.stop();
  await untilArrived(written);
  const own = openPool({ url: urlOf(servers.own, "records"), applicationName: "test", max: 1 });
  const listed = written.map((id) => `'${id}'`).join();
  expect(await countIn(own, `id in (${listed}) and status = 'approved'`)).toBe(new Set(written).size);
  await own.stop();
  await eventually(async () => expect(await statusOf()).toBe(200));
}, 180_000);
