import { BrandRecords, type BrandEvent, type FinishedWalk, type SyncPage, type SyncStore, type UnknownEvent } from "@brand-records/client";
import { openPool, type Database } from "@brand-records/postgres";
import { RESOURCE_NAMES, RESOURCES, type ResourceName } from "@brand-records/resources";
import { createDatabase, type TestDatabase } from "@brand-records/testkit";
import { Pool } from "pg";
import { endPool } from "./end-pool.ts";
import { seedBrand } from "../seed-brand.ts";
import { startOnSharedServices, type SharedStack, type TestBrand } from "../stack.ts";

/** One promise: the client keeps a copy of 50,000 conversions in Postgres that equals the database, night after night. */

const SIZES = { campaigns: 8, submissions: 500, payouts: 250, deposits: 20, conversions: 50_000, links: 205 };
const NIGHT_MS_MAX = 400_000;

interface Store extends SyncStore {
  applyEvent(event: BrandEvent | UnknownEvent): Promise<boolean>;
}

let stack: SharedStack;
let db: Database;
let copyDatabase: TestDatabase;
let pool: Pool;
let brand: TestBrand;
let store: Store;

beforeAll(async () => {
  stack = await startOnSharedServices({ RATE_LIMIT_PLUS: "100000" });
  db = openPool({ url: stack.databaseUrl, applicationName: "platform" });
  copyDatabase = await createDatabase("empty");
  pool = new Pool({ connectionString: copyDatabase.url, max: 3 });
  brand = await stack.createBrand();
  await seedBrand(stack, brand.id, SIZES);
  /** JavaScript, as users copy it. */
  const { PostgresStore } = jest.requireActual<{ PostgresStore: { open(pool: Pool): Promise<Store> } }>(
    "../../examples/sync/postgres-store.js",
  );
  store = await PostgresStore.open(pool);
}, NIGHT_MS_MAX);
afterAll(async () => {
  await endPool(pool);
  await copyDatabase.drop();
  await db.stop();
  await stack.stop();
});

const records = (): BrandRecords => new BrandRecords({ url: stack.url, key: brand.key, expectBrand: brand.id });

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
  "equals the database after each walk, through changes of status, an interrupted night, and events in between",
  async () => {
    await records().sync(store);
    await expectEqualCopy();

    await settle();
    const evening = new AbortController();
    let pages = 0;
    const stop = (): void => {
      pages += 1;
      if (pages === 150) evening.abort(new Error("the machine restarts"));
    };
    await expect(records().sync(store, { signal: evening.signal, onPage: stop })).rejects.toThrow("the machine restarts");
    await records().sync(store, { onPage: () => (pages += 1) });
    // No page was read twice: 1 to campaigns, 3 to submissions, 2 to payouts, 1 to deposits, 251 to conversions, 2 to links.
    expect(pages).toBe(260);
    await expectEqualCopy();

    const other = await stack.createBrand();
    const swapped = new BrandRecords({ url: stack.url, key: other.key }).sync(store);
    await expect(swapped).rejects.toMatchObject({ code: "wrong_brand", brandId: other.id });
    await expectEqualCopy();
    expect((await pool.query("select * from brand_copy.vanished")).rows).toEqual([]);
  },
  NIGHT_MS_MAX,
);

it("merges an event that came while a page was on its way, and an event only once", async () => {
  const [payout] = (await storedRecords("payouts")) as [{ id: string; updated_at: string }];
  const updated_at = new Date().toISOString();
  const data = { ...payout, resource: "payouts", status: "reversed", previous_status: "paid", updated_at };
  const event = { id: "evt_1", type: "payout.reversed", created_at: updated_at, brand_id: brand.id, test: false, dashboard_url: "", data };
  expect([await store.applyEvent(event), await store.applyEvent(event)]).toEqual([true, false]);
  const copied = async () => (await pool.query("select record from brand_copy.records where id = $1", [payout.id])).rows;
  expect(await copied()).toEqual([{ record: { ...payout, status: "reversed", updated_at } }]);
  // The page was requested before the event, and lacks it.
  const progress = { startedAt: new Date().toISOString(), toRead: [] };
  const page = {
    brandId: brand.id,
    resource: "payouts",
    records: [payout],
    requestedAt: "2026-01-01T00:00:00.000Z",
    listedAt: updated_at,
    progress,
  };
  await store.writePage(page as unknown as SyncPage);
  expect(await copied()).toEqual([{ record: { ...payout, status: "reversed", updated_at } }]);
  await store.finishWalk({ startedAt: progress.startedAt, finishedAt: progress.startedAt });
  await store.writePage(page as unknown as SyncPage);
  expect(await copied()).toEqual([{ record: payout }]);
  await expect(store.applyEvent({ ...event, brand_id: "brd_other" })).rejects.toThrow("not of brand brd_other");
  expect(await store.applyEvent({ ...event, test: true })).toBe(false);
});

it(
  "is written by one walk at a time: one that was frozen while another wrote fails at its next page",
  async () => {
    const { PostgresStore } = jest.requireActual<{ PostgresStore: { open(pool: Pool): Promise<Store> } }>(
      "../../examples/sync/postgres-store.js",
    );
    // What the test before has left unfinished.
    await records().sync(store);
    const frozen = await PostgresStore.open(pool);
    const resumed = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const freezing: Store = Object.assign(Object.create(frozen) as Store, {
      load: () => frozen.load(),
      finishWalk: (walk: FinishedWalk) => frozen.finishWalk(walk),
      writePage: async (page: SyncPage) => {
        reached.resolve();
        await resumed.promise;
        await frozen.writePage(page);
      },
    });
    const first = records().sync(freezing);
    await reached.promise;
    await records().sync(store);
    const before = await pool.query("select * from brand_copy.state");
    resumed.resolve();
    await expect(first).rejects.toThrow("another walk writes this copy");
    expect((await pool.query("select * from brand_copy.state")).rows).toEqual(before.rows);
    await expectEqualCopy();
  },
  NIGHT_MS_MAX,
);
