import { chmod, rm } from "node:fs/promises";
import { join } from "node:path";
import { openPool, type Database } from "@brand-records/postgres";
import { freePort } from "@brand-records/postgres/embedded";
import { ImportServiceService } from "@brand-records/proto/records/v1";
import { connectRpc } from "@brand-records/rpc";
import {
  eventually,
  makeOwnedFolder,
  startPostgresServer,
  startProcess,
  type PostgresServer,
  type ServiceProcess,
} from "@brand-records/testkit";
import { scriptOf } from "../program-script.ts";
import { seedBrand } from "../seed-brand.ts";
import { ensureBackingServices } from "../setup/ensure-backing-services.ts";
import { startStack, type Stack, type TestBrand } from "../stack.ts";
import { commandWith, documentedCommands, runIn } from "./restore-harness.ts";

/** One promise: a cell that is restored serves no brand that accounts names elsewhere, `doctor` names what differs, and the documented steps end it. */

const SIZES = { campaigns: 1, submissions: 3, payouts: 1, deposits: 0, conversions: 0, links: 3 };

let stack: Stack;
let server: PostgresServer;
let records: ServiceProcess;
let folder: string;
let port: number;
let binDir: string;
/** The databases of the cell without a name, which accounts shares, and of "b". */
let first: Database;
let other: Database;
let urls: { first: string; other: string };

const startRecords = (): Promise<ServiceProcess> =>
  startProcess({
    name: "records",
    script: scriptOf("records"),
    env: { DATABASE_URL: urls.other, RPC_PORT: String(port), STOP_GRACE_MS: "0" },
  });

beforeAll(async () => {
  binDir = (await ensureBackingServices("postgres")).get("POSTGRES_BIN") ?? "";
  [server, port, folder] = [await startPostgresServer({ binDir }), await freePort(), await makeOwnedFolder("brand-records-cell-")];
  await chmod(folder, 0o755);
  const admin = openPool({ url: server.url, applicationName: "test", max: 1 });
  for (const name of ["first", "other"]) await admin.query(`create database ${name}`);
  await admin.stop();
  const [one, two] = ["first", "other"].map((name) => server.url.replace(/\/postgres$/, `/${name}`));
  urls = { first: one ?? "", other: two ?? "" };
  stack = await startStack({
    database: { url: urls.first, drop: async () => {} },
    redisUrl: process.env["TEST_REDIS_URL"] ?? "",
    env: { RATE_LIMIT_PLUS: "100000" },
    envOf: { gateway: { RECORDS_CELLS: `b=127.0.0.1:${port}` } },
  });
  records = await startRecords();
  [first, other] = [urls.first, urls.other].map((url) => openPool({ url, max: 2, applicationName: "test" })) as [Database, Database];
}, 180_000);
afterAll(async () => {
  await Promise.all([first.stop(), other.stop()]);
  await records.kill();
  await stack.stop();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const letIn = (cell: Database, brand: TestBrand): Promise<unknown> => cell.query("select records.become_cell($1)", [[brand.id]]);
const leave = (cell: Database, brand: TestBrand): Promise<unknown> =>
  cell.query("delete from records.brands where brand_id = $1", [brand.id]);
async function seed(brand: TestBrand, address: string): Promise<void> {
  const importing = connectRpc(ImportServiceService, address);
  await seedBrand({ importing }, brand.id, SIZES, { seed: 1 });
  importing.stop();
}
const addressOfB = (): string => `127.0.0.1:${port}`;

async function pageOf(brand: TestBrand): Promise<[number, number | undefined]> {
  const response = await stack.get("/api/v1/links", brand.key);
  return [response.status, ((await response.json()) as { count?: number }).count];
}

const environment = () => ({
  ...Object.fromEntries(Object.entries(stack.addresses).map(([name, address]) => [`${name.toUpperCase()}_ADDRESS`, address])),
  RECORDS_CELLS: `b=${addressOfB()}`,
  RECORDS_DATABASE_URL: urls.first,
  RECORDS_CELL_DATABASES: `b=${urls.other}`,
  DATABASE_URL: urls.other,
  ACCOUNTS_DATABASE_URL: urls.first,
  PATH: `${binDir}:${process.env["PATH"]}`,
});
async function command(title: string, words: string, replaced: Readonly<Record<string, string>> = {}): Promise<string> {
  const line = commandWith(await documentedCommands(title), words, { SERVICE: "records", ...replaced });
  return runIn(folder, line.replace("npx brandctl", `node ${join(process.cwd(), "brandctl/dist/main.js")}`), environment());
}
/** What doctor says about the brands of cells. It exits with 1 or 3: nothing here has an admin port that it knows. */
const compared = async (): Promise<string> =>
  /brands of cells +(.*)/.exec(
    await command("Cells", "brandctl doctor", { "npx brandctl doctor": "npx brandctl doctor --wait 0 || true" }),
  )?.[1] ?? "";

it("names the brands that moved since the backup, shows no page that is old or empty, and ends as documented", async () => {
  const [left, came, stayed, gone] = [
    await stack.createBrand(),
    await stack.createBrand(),
    await stack.createBrand(),
    await stack.createBrand(),
  ];
  for (const brand of [left, stayed, gone]) {
    await letIn(other, brand);
    await stack.setCell(brand, "b");
    await seed(brand, addressOfB());
  }
  await letIn(first, came);
  await seed(came, stack.addresses.records);
  expect(await compared()).toBe("are where accounts names them");
  await command("Backup and restore", "pg_dump");

  // What moves and a deletion leave, after the backup.
  await letIn(first, left);
  await seed(left, stack.addresses.records);
  await leave(other, left);
  await stack.setCell(left, null);
  await letIn(other, came);
  await seed(came, addressOfB());
  await leave(first, came);
  await stack.setCell(came, "b");
  await leave(other, gone);
  await first.query("delete from accounts.keys where brand_id = $1", [gone.id]);
  await first.query("delete from accounts.members where brand_id = $1", [gone.id]);
  await first.query("delete from accounts.brands where id = $1", [gone.id]);
  for (const brand of [left, came, stayed]) expect(await pageOf(brand)).toEqual([200, 3]);
  expect(await compared()).toBe("are where accounts names them");

  await records.kill("SIGTERM");
  await command("Backup and restore", "alter schema");
  await command("Backup and restore", "pg_restore");
  const problems = [
    `${left.id} is open in the cell b, and accounts names the cell without a name`,
    `${came.id} is not in the cell b, and accounts names the cell b`,
    `${gone.id} is open in the cell b, and accounts has no such brand`,
  ];
  expect((await compared()).split("; ").toSorted()).toEqual(problems.toSorted());

  // Also before anything is done about it.
  records = await startRecords();
  await eventually(async () => expect(await pageOf(stayed)).toEqual([200, 3]));
  expect([await pageOf(left), (await pageOf(came))[0]]).toEqual([[200, 3], 503]);
  await expect(seed(came, addressOfB())).rejects.toThrow("in another cell");

  for (const brand of [left, gone]) await command("Cells", "for table in", { BRAND: brand.id });
  await command("Cells", "become_cell", { BRAND: came.id });
  expect(await compared()).toBe("are where accounts names them");
  for (const table of ["submissions", "links", "campaigns"])
    expect(await other.query(`select from records.${table} where brand_id = any($1)`, [[left.id, gone.id]])).toEqual([]);
  await seed(came, addressOfB());
  for (const brand of [left, came, stayed]) expect(await pageOf(brand)).toEqual([200, 3]);

  // accounts is restored: it names the cell that the brand has left.
  await first.query("update accounts.brands set cell = null where id = $1", [came.id]);
  expect(await compared()).toContain(`${came.id} is not in the cell without a name`);
  await command("Cells", "insert into accounts.brand_moves", { BRAND: came.id });
  await command("Cells", "brands move BRAND --resume", { BRAND: came.id });
  expect(await compared()).toBe("are where accounts names them");
  expect(await pageOf(came)).toEqual([200, 3]);
}, 240_000);
