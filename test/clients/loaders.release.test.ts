import type { IncomingMessage, ServerResponse } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { openPool, type Database, type Sql } from "@brand-records/postgres";
import { RESOURCE_NAMES, RESOURCES } from "@brand-records/resources";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { startForwardingProxy, type ForwardingProxy } from "../forwarding-proxy.ts";
import { seedBrand } from "../seed-brand.ts";
import { startOnSharedServices, type SharedStack, type TestBrand } from "../stack.ts";
import { importStrangers, strangersRecords, type StrangersRecords } from "../strangers/import.ts";
import { AirbyteLoader, copyOf, DltLoader, type LoadedRecord, type MakeLoader } from "./loaders.ts";

/**
 * One promise: the loaders of examples/ copy every record once, also while records are made, and what they cannot see is what their
 * pages say: changes of records that were created more than an hour before the latest one, and such records that come later.
 */

const SIZES = { campaigns: 8, submissions: 500, payouts: 250, deposits: 20, conversions: 50_000, links: 205 };
/** Records that are made before each page of the first day. */
const MADE_PER_PAGE = 10;
/** The first run installs the loaders. */
const RUN_MS_MAX = 15 * 60_000;

const LOADERS: readonly (readonly [name: string, make: MakeLoader])[] = [
  ["airbyte", (parent, address) => AirbyteLoader.make(parent, address)],
  ["dlt", (parent, address) => DltLoader.make(parent, address)],
];

let stack: SharedStack;
let db: Database;
let folder: string;
let proxy: ForwardingProxy;
/** Called before each request. Returns whether it responded. */
let onRequest: (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<boolean> | boolean = () => false;
/** Commits the record of a test that is committed late. */
let commit = (): void => {};

beforeAll(async () => {
  stack = await startOnSharedServices({ RATE_LIMIT_PLUS: "100000" });
  db = openPool({ url: stack.databaseUrl, max: 4, applicationName: "platform" });
  folder = await mkdtemp(join(tmpdir(), "loaders-"));
  proxy = await startForwardingProxy(stack.url, { intercept: async (...exchange) => onRequest(...exchange) });
});
afterEach(() => {
  onRequest = () => false;
  commit();
});
afterAll(async () => {
  await proxy.stop();
  await db.stop();
  await stack.stop();
  await rm(folder, { recursive: true, force: true });
});

const COLUMNS = Object.keys(RESOURCES.conversions.schema.shape);
const stored = ({ id }: TestBrand): Promise<LoadedRecord[]> =>
  db.query(`select ${COLUMNS.join(", ")} from records.conversions where brand_id = $1 order by created_at desc, id desc`, [id]);

/** Makes copies of one of the brand's conversions. @returns their ids */
async function make(sql: Sql, { id }: TestBrand, count: number, createdAt = "now()"): Promise<string[]> {
  const others = COLUMNS.filter((name) => !["id", "created_at", "updated_at"].includes(name)).join(", ");
  const made = await sql.query<{ id: string }>(
    `insert into records.conversions (brand_id, id, created_at, updated_at, ${others})
     select brand_id, 'cnv_' || md5(random()::text || i), ${createdAt}, now(), ${others}
       from (select * from records.conversions where brand_id = $1 limit 1) as model, generate_series(1, $2::int) i
     returning id`,
    [id, count],
  );
  return made.map((record) => record.id);
}

/** Corrects commissions. */
const correct = ({ id }: TestBrand, records: readonly LoadedRecord[]): Promise<unknown> =>
  db.query("update records.conversions set commission_centavos = commission_centavos + 1 where brand_id = $1 and id = any($2)", [
    id,
    records.map((record) => record.id),
  ]);

/** Compares without a diff of 50,000 records. */
function expectSame(copied: readonly LoadedRecord[], expected: readonly LoadedRecord[]): void {
  const byId = new Map(copied.map((record) => [record.id, record]));
  expect([copied.length, byId.size]).toEqual([expected.length, expected.length]);
  expect(expected.filter((record) => !isDeepStrictEqual(byId.get(record.id), record))).toEqual([]);
}

/** The corpus as a run at this time may see it. */
const dueOf = (strangers: StrangersRecords): object => {
  const now = new Date().toISOString();
  return Object.fromEntries(RESOURCE_NAMES.map((resource) => [resource, strangers[resource].filter((record) => record.created_at <= now)]));
};

describe.each(LOADERS)("%s", (name, makeLoader) => {
  it(
    "copies 50,000 conversions while others are made, then the next day's, and with a full refresh what it could not see",
    async () => {
      const brand = await stack.createBrand();
      await seedBrand(stack, brand.id, SIZES);
      const future = await make(db, brand, 1, "timestamptz '2100-01-01T00:00:00Z'");
      const begun = Promise.withResolvers<void>();
      const late = db.transaction(async (sql) => {
        await sql.query("set local idle_in_transaction_session_timeout = 0");
        await make(sql, brand, 1);
        begun.resolve();
        await new Promise<void>((resolve) => (commit = resolve));
      });
      await begun.promise;
      // Later than the one that is not committed.
      await make(db, brand, 1);

      // The first day.
      const loader = await makeLoader(folder, { url: proxy.url, key: brand.key });
      const before = (await stored(brand)).filter(({ id }) => !future.includes(id));
      const made: string[] = [];
      const refused = new Map<string | undefined, number>();
      const waits: number[] = [];
      let requests = 0;
      onRequest = async ({ url }, outgoing) => {
        requests += 1;
        const at = refused.get(url);
        if (at !== undefined) waits.push(Date.now() - at);
        if (requests === 20 || requests === 40) {
          refused.set(url, Date.now());
          outgoing.writeHead(requests === 20 ? 429 : 503, { "Retry-After": "2" }).end("{}");
          return true;
        }
        made.push(...(await make(db, brand, MADE_PER_PAGE)));
        return false;
      };
      await loader.run();
      onRequest = () => false;
      expect(made.length).toBeGreaterThan((SIZES.conversions / 200) * MADE_PER_PAGE);
      expect(waits).toHaveLength(2);
      expect(Math.min(...waits)).toBeGreaterThanOrEqual(2_000);
      const copied = await loader.copied("conversions");
      expect(copied.filter(({ id }) => future.includes(id))).toEqual([]);
      const after = new Set(made);
      expectSame(
        copied.filter(({ id }) => !after.has(id)),
        before,
      );

      // The second day.
      commit();
      await late;
      await make(db, brand, 300);
      const old = before.slice(-100);
      const recent = copied.filter(({ id }) => after.has(id)).slice(0, 10);
      await correct(brand, [...old, ...recent]);
      const history = await make(db, brand, 5, "timestamptz '2026-01-05T00:00:00Z'");
      await loader.run();
      const unchanged = new Map(old.map((record) => [record.id, record]));
      const now = await stored(brand);
      expectSame(
        await loader.copied("conversions"),
        now.filter(({ id }) => ![...future, ...history].includes(id)).map((record) => unchanged.get(record.id) ?? record),
      );

      await loader.run(true);
      expectSame(await loader.copied("conversions"), name === "dlt" ? now : now.filter(({ id }) => !future.includes(id)));
    },
    RUN_MS_MAX,
  );

  it(
    "copies the strangers' corpus unchanged, but for what is dated in the future",
    async () => {
      const brand = await stack.createBrand();
      const strangers = await importStrangers(stack, brand);
      const loader = await makeLoader(folder, { url: stack.url, key: brand.key });
      await loader.run();
      expect(await copyOf(loader)).toEqual(dueOf(strangers));
      await loader.run();
      expect(await copyOf(loader)).toEqual(dueOf(strangers));
      await loader.run(true);
      expect(await copyOf(loader)).toEqual(name === "dlt" ? strangers : dueOf(strangers));
    },
    RUN_MS_MAX,
  );
});

it(
  "the manifest's check tells a right key from a wrong one, and every record of the corpus is valid by its schemas",
  async () => {
    const loaders = await Promise.all(
      [(await stack.createBrand()).key, `brk_live_${"a".repeat(36)}`].map((key) =>
        AirbyteLoader.make(folder, { url: `${stack.url}/`, key }),
      ),
    );
    expect(await Promise.all(loaders.map((loader) => loader.check()))).toEqual([true, false]);
    const schemas = await loaders[0]?.schemas();
    const strangers = strangersRecords();
    const ajv = addFormats.default(new Ajv({ strict: false }));
    for (const resource of RESOURCE_NAMES) {
      const validate = ajv.compile(schemas?.get(resource) ?? false);
      expect(strangers[resource].filter((record) => !validate(record))).toEqual([]);
    }
  },
  RUN_MS_MAX,
);
