import { once } from "node:events";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createDatabase, type TestDatabase } from "@brand-records/testkit";
import { Pool } from "pg";
import { brandRecords, type Ended } from "../command-line.ts";
import { endPool } from "./end-pool.ts";

/** One promise: the copies of `brand-records sync` behave the same in SQLite and in Postgres, whatever happens to them. */

type Row = Readonly<Record<string, unknown>>;

const BRAND = "brd_01k1sem520ecxthczqg3ryfxme";
const AT = "2026-11-21T08:30:00.000Z";
const PAGE = 2;
/** 2 to payouts, 1 to each other list. */
const REQUESTS_OF_A_WALK = 7;

const payout = (id: string, more: object = {}): Row => ({
  id,
  created_at: AT,
  updated_at: AT,
  status: "processing",
  amount_centavos: 5,
  ...more,
});

let server: Server;
let lists: Record<string, Row[]>;
/** Called for the first, second, … request of a test. Returns whether it responded. */
let onRequest: (number: number, response: ServerResponse) => Promise<boolean> | boolean;
let requests: string[];
let folder: string;

beforeAll(async () => {
  server = createServer((request, response) => void serve(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
});
beforeEach(async () => {
  lists = { campaigns: [payout("cmp_1")], payouts: [payout("po_3"), payout("po_2", { mood: { score: 7 } }), payout("po_1")] };
  onRequest = () => false;
  requests = [];
  folder = await mkdtemp(join(tmpdir(), "copies-"));
});
afterEach(() => rm(folder, { recursive: true }));
afterAll(() => server.close());

async function serve({ url = "" }: IncomingMessage, response: ServerResponse): Promise<void> {
  requests.push(url);
  const { pathname, searchParams } = new URL(url, "http://127.0.0.1");
  const resource = pathname.split("/").at(-1) ?? "";
  const start = Number(searchParams.get("cursor") ?? 0);
  // Read before the response is held up, as a page is that an event overtakes.
  const data = (lists[resource] ?? []).slice(start, start + PAGE);
  if (await onRequest(requests.length, response)) return;
  const page = { resource, count: data.length, ...(data.length === PAGE && { next_cursor: String(start + PAGE) }), data };
  response.writeHead(200, { "X-Brand-Id": BRAND, Date: new Date().toUTCString() }).end(JSON.stringify(page));
}

interface Database {
  /** What `BRAND_RECORDS_DB` names. */
  readonly target: string;
  /** How messages name it. */
  readonly name: unknown;
  query(statement: string): Promise<readonly unknown[]>;
  stop(): Promise<void>;
}

async function openFile(): Promise<Database> {
  const target = join(folder, "copy.db");
  const query = async (statement: string): Promise<unknown[]> => {
    const db = new DatabaseSync(target, { readOnly: true });
    try {
      return db
        .prepare(statement)
        .all()
        .map((row) => ({ ...row }));
    } finally {
      db.close();
    }
  };
  return { target, name: target, query, stop: async () => {} };
}

let postgres: TestDatabase;
let pool: Pool;
async function openPostgres(): Promise<Database> {
  postgres = await createDatabase("empty");
  pool = new Pool({ connectionString: postgres.url, max: 1, options: "-c search_path=brand_copy" });
  return {
    target: postgres.url,
    name: expect.stringMatching(/^brand_copy in /),
    query: async (statement) => (await pool.query(statement)).rows as unknown[],
    async stop() {
      await endPool(pool);
      await postgres.drop();
    },
  };
}

const env = (): Record<string, string> => ({
  BRAND_RECORDS_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  BRAND_RECORDS_KEY: `brk_live_${"a".repeat(36)}`,
});

describe.each([
  ["SQLite", openFile],
  ["Postgres", openPostgres],
])("a copy in %s", (_, openDatabase) => {
  let database: Database;
  beforeEach(async () => {
    database = await openDatabase();
  });
  afterEach(() => database.stop());

  const sync = (args: readonly string[] = [], input = ""): Promise<Ended> =>
    brandRecords(["sync", ...args], { env: { ...env(), BRAND_RECORDS_DB: database.target }, input });
  const event = (data: object, more: object = {}): string =>
    JSON.stringify({
      id: "evt_1",
      type: "payout.paid",
      created_at: "2031-01-01T00:00:00.000Z",
      brand_id: BRAND,
      test: false,
      data: { resource: "payouts", ...data },
      ...more,
    });
  const statuses = async (): Promise<unknown> => database.query("select id, status from payouts order by id");

  it("has every record, and says so as a document", async () => {
    const { code, stdout, stderr } = await sync(["--json"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const none = { campaigns: 0, submissions: 0, payouts: 0, deposits: 0, conversions: 0, links: 0 };
    expect(JSON.parse(stdout)).toEqual({
      db: database.name,
      brand_id: BRAND,
      started_at: expect.any(String),
      finished_at: expect.any(String),
      continued: false,
      requests: REQUESTS_OF_A_WALK,
      records: { ...none, campaigns: 1, payouts: 3 },
      vanished: none,
    });
    const [{ record }] = (await database.query("select cast(record as text) as record from records where id = 'po_2'")) as [
      { record: string },
    ];
    expect(JSON.parse(record)).toEqual(payout("po_2", { mood: { score: 7 } }));
    expect(Number(((await database.query("select sum(amount_centavos) as sum from payouts")) as [{ sum: unknown }])[0].sum)).toBe(15);
  });

  it("takes corrected records as they are listed, and shows those that are not listed any more", async () => {
    await sync();
    lists["payouts"] = [payout("po_3", { status: "paid", updated_at: "2026-01-01T00:00:00.000Z" }), payout("po_1")];
    const { code, stdout, stderr } = await sync();
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^payouts +3, 1 no longer listed \(vanished\)$/m);
    expect(await statuses()).toEqual([
      { id: "po_1", status: "processing" },
      { id: "po_3", status: "paid" },
    ]);
    expect(await database.query("select id from vanished")).toEqual([{ id: "po_2" }]);
  });

  it("goes on after the last page that it has, and requests none twice", async () => {
    onRequest = (number, response) =>
      number === 4 &&
      response.writeHead(503, { "Retry-After": "3600" }).end('{"error":{"code":"unavailable","message":"m"}}').writableEnded;
    expect(await sync()).toMatchObject({ code: 1, stderr: expect.stringContaining("3 records of this walk are in") });
    onRequest = () => false;
    expect(await sync()).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Continuing the walk of .*, after 3 records\.\n$/) });
    expect(requests).toHaveLength(REQUESTS_OF_A_WALK + 1);
    expect(requests[4]).toBe(requests[3]);
    expect(await statuses()).toHaveLength(3);
  });

  it("keeps the state of an event that came while an older page was on its way, and merges it once", async () => {
    await sync();
    const paid = event({ id: "po_1", status: "paid", updated_at: "2031-01-01T00:00:00.000Z" });
    let merged: Ended | undefined;
    onRequest = async (number) => {
      if (number === REQUESTS_OF_A_WALK + 4) merged = await sync(["--event", "-"], paid);
      return false;
    };
    expect(await sync()).toMatchObject({ code: 0 });
    expect(merged).toMatchObject({ code: 0, stdout: "po_1 is changed\n" });
    expect(await statuses()).toContainEqual({ id: "po_1", status: "paid" });
    expect(await database.query("select * from waiting_events")).toEqual([]);
    expect(await sync(["--event", "-"], paid)).toMatchObject({ stdout: expect.stringContaining("this state or a later one") });
  });

  it("takes no event before its first walk, and none of another brand", async () => {
    expect(await sync(["--event", "-"], event({ id: "po_1", updated_at: AT }))).not.toMatchObject({ code: 0 });
    await sync();
    const other = event({ id: "po_1", status: "paid", updated_at: "2031-01-01T00:00:00.000Z" }, { brand_id: "brd_other" });
    expect(await sync(["--event", "-"], other)).toMatchObject({ code: 1, stderr: expect.stringContaining("Nothing was written") });
    expect(await sync(["--event", "-", "--json"], event({ id: "po_9", updated_at: AT }))).toMatchObject({
      stdout: '{"event_id":"evt_1","id":"po_9","outcome":"not_in_copy"}\n',
    });
    expect(await statuses()).toContainEqual({ id: "po_1", status: "processing" });
  });

  it("is written by one walk at a time", async () => {
    let second: Ended | undefined;
    onRequest = async (number) => {
      if (number === 2) second = await sync();
      return false;
    };
    expect(await sync()).toMatchObject({ code: 0 });
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining("Another brand-records sync writes into") });
    expect(requests).toHaveLength(REQUESTS_OF_A_WALK);
  });
});

describe("a copy in Postgres", () => {
  it("leaves a schema with other tables as it is", async () => {
    const database = await openPostgres();
    await pool.query("create schema brand_copy; create table brand_copy.records (id text)");
    const ended = await brandRecords(["sync"], { env: { ...env(), BRAND_RECORDS_DB: database.target } });
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringMatching(/is no copy: it has other tables\nRename it/) });
    expect(requests).toEqual([]);
    await database.stop();
  });

  it("survives that its connection is lost", async () => {
    const database = await openPostgres();
    const sync = (): Promise<Ended> => brandRecords(["sync"], { env: { ...env(), BRAND_RECORDS_DB: database.target } });
    onRequest = async (number) => {
      if (number === 3) {
        const terminated = await pool.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'brand-records sync'",
        );
        expect(terminated.rowCount).toBe(1);
      }
      return false;
    };
    expect(await sync()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: brand_copy in .*terminat.*\n1 record of this walk is in/),
    });
    onRequest = () => false;
    expect(await sync()).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Copy +brand_copy in .*\n(.*\n)*payouts +3\n/) });
    await database.stop();
  });
});

it.each<[string, () => Promise<readonly string[]>, RegExp]>([
  ["no copy", async () => [], /--db is missing/],
  [
    "a password that others can read",
    async () => ["--db", "postgres://user:secret@db.example/copy"],
    /--db has a password.*\nSet BRAND_RECORDS_DB/,
  ],
  ["a database of another kind", async () => ["--db", "mysql://db.example/copy"], /a URL of Postgres/],
  ["a folder", async () => ["--db", folder], /it is a directory/],
  ["a folder that is missing", async () => ["--db", join(folder, "missing", "copy.db")], /its folder does not exist/],
  [
    "a file of something else",
    async () => (await writeFile(join(folder, "notes"), "not a database ".repeat(100)), ["--db", join(folder, "notes")]),
    /is no copy: file is not a database/,
  ],
  [
    "another program's database",
    async () => (new DatabaseSync(join(folder, "app.db")).exec("create table records (id text)"), ["--db", join(folder, "app.db")]),
    /is no copy: it has other tables/,
  ],
  ["a part of the limit that is none", async () => ["--db", join(folder, "copy.db"), "--share", "50"], /--share must be a number/],
])("refuses %s with exit code 2, before it requests anything", async (_, args, text) => {
  const ended = await brandRecords(["sync", ...(await args())], { env: env() });
  expect(ended).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(text) });
  expect(ended.stderr).not.toContain("secret");
  expect(requests).toEqual([]);
});

it("makes a file that SQLite of before 3.38 reads, which has no ->>", async () => {
  const { target, query } = await openFile();
  await brandRecords(["sync", "--db", target], { env: env() });
  expect(await query("select name from sqlite_master where sql like '%->%'")).toEqual([]);
});

it("makes the file of a copy for its owner alone", async () => {
  const db = join(folder, "copy.db");
  await brandRecords(["sync", "--db", db], { env: env() });
  expect((await stat(db)).mode & 0o777).toBe(0o600);
});

it("shows how far it is on a terminal", async () => {
  const run = (): Promise<Ended> =>
    brandRecords(["sync", "--db", join(folder, "copy.db")], { env: { ...env(), NO_COLOR: "1" }, columns: 80 });
  expect((await run()).stderr).toContain("sync  4 records");
  expect((await run()).stderr).toMatch(/sync {2}█+ 100% {2}4 records/);
});
