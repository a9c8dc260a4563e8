import type { ChildProcess } from "node:child_process";
import { openPool, type Database } from "@brand-records/postgres";
import { RESOURCE_NAMES, RESOURCES, type ResourceName } from "@brand-records/resources";
import { createDatabase, type TestDatabase } from "@brand-records/testkit";
import { Pool } from "pg";
import { brandRecordsProcess, type Ended } from "../command-line.ts";
import { startForwardingProxy, type ForwardingProxy } from "../forwarding-proxy.ts";
import { seedBrand } from "../seed-brand.ts";
import { startOnSharedServices, type SharedStack, type TestBrand } from "../stack.ts";
import { endPool } from "./end-pool.ts";

/** One promise: `brand-records sync` keeps a copy of 50,000 conversions in Postgres that equals the database, night after night. */

const SIZES = { campaigns: 8, submissions: 500, payouts: 250, deposits: 20, conversions: 50_000, links: 205 };
const NIGHT_MS_MAX = 400_000;

let stack: SharedStack;
let db: Database;
let copyDatabase: TestDatabase;
let pool: Pool;
let brand: TestBrand;
let proxy: ForwardingProxy;
let running: ChildProcess;
/** The request that ends the walk, as when the machine restarts, and gets no response. */
let lastRequest = 0;
let requests = 0;

beforeAll(async () => {
  stack = await startOnSharedServices({ RATE_LIMIT_PLUS: "100000" });
  db = openPool({ url: stack.databaseUrl, applicationName: "platform" });
  copyDatabase = await createDatabase("empty");
  pool = new Pool({ connectionString: copyDatabase.url, max: 3 });
  brand = await stack.createBrand();
  await seedBrand(stack, brand.id, SIZES);
  proxy = await startForwardingProxy(stack.url, {
    intercept: async () => {
      requests += 1;
      return requests === lastRequest && running.kill("SIGTERM");
    },
  });
}, NIGHT_MS_MAX);
afterAll(async () => {
  await proxy.stop();
  await endPool(pool);
  await copyDatabase.drop();
  await db.stop();
  await stack.stop();
});

const sync = (key = brand.key): Promise<Ended> =>
  brandRecordsProcess(["sync", "--share", "1", "--json"], {
    env: { BRAND_RECORDS_URL: proxy.url, BRAND_RECORDS_KEY: key, BRAND_RECORDS_DB: copyDatabase.url },
    onStart: (child) => (running = child),
  });

const digest = (rows: readonly { id: unknown }[]) => new Map(rows.map((row) => [row.id, row]));

async function expectEqualCopy(): Promise<void> {
  for (const resource of RESOURCE_NAMES) {
    const { rows } = await pool.query<{ record: { id: string } }>("select record from brand_copy.records where resource = $1", [resource]);
    const stored = await storedRecords(resource);
    expect(rows).toHaveLength(SIZES[resource]);
    const copied = digest(rows.map(({ record }) => record));
    const different = stored.filter((record) => JSON.stringify(sorted(record)) !== JSON.stringify(sorted(copied.get(record.id) ?? {})));
    expect(different).toEqual([]);
  }
}

const storedRecords = (resource: ResourceName): Promise<{ id: string }[]> =>
  db.query(`select ${Object.keys(RESOURCES[resource].schema.shape).join(", ")} from records.${resource} where brand_id = $1`, [brand.id]);

const sorted = (record: object): object => Object.fromEntries(Object.entries(record).toSorted(([one], [other]) => (one < other ? -1 : 1)));

/** Orders are approved and reversed weeks later: anywhere in the list. */
const settle = (): Promise<unknown> =>
  db.query(
    `update records.conversions set status = case when hashtext(id) % 2 = 0 then 'approved' else 'reversed' end,
       reversal_code = case when hashtext(id) % 2 = 0 then null else 'returned' end
     where brand_id = $1 and status = 'pending' and hashtext(id) % 5 <> 0`,
    [brand.id],
  );

it(
  "equals the database after each walk, through changes of status and an interrupted night",
  async () => {
    expect(await sync()).toMatchObject({ code: 0 });
    await expectEqualCopy();

    await settle();
    [requests, lastRequest] = [0, 150];
    expect(await sync()).toMatchObject({ code: 130, stderr: expect.stringContaining("The same command continues") });
    const ended = await sync();
    expect(JSON.parse(ended.stdout)).toMatchObject({ continued: true, records: SIZES });
    // No page was kept twice: 1 to campaigns, 3 to submissions, 2 to payouts, 1 to deposits, 251 to conversions, 2 to links. The
    // request without a response is sent again.
    expect(requests).toBe(260 + 1);
    await expectEqualCopy();

    const other = await stack.createBrand();
    expect(await sync(other.key)).toMatchObject({ code: 1, stderr: expect.stringContaining(`the key is of brand ${other.id}`) });
    await expectEqualCopy();
    expect((await pool.query("select * from brand_copy.vanished")).rows).toEqual([]);
  },
  NIGHT_MS_MAX,
);
