import { type Database, openPool } from "@brand-records/postgres";
import { type BenchDatabase, withClient } from "../harness/databases.ts";
import { importBuilt } from "../harness/programs.ts";
import { compareSizes, type Growth, type Side } from "./compare-sizes.ts";
import { IMPORT_LINES, IMPORT_ROUNDS } from "./settings.ts";

/** The brand with two fifths of all conversions. */
export const LARGEST_BRAND = "brd_growth0";
const OTHER_BRANDS = 999;
/** A brand with a thousandth of the rest: each of its records is in a block of its own. */
export const SMALL_BRAND = "brd_growth1";
/** Before this one every 2,500th conversion is reversed, and none after: as many, as old ones, on either side. All are the largest brand's. */
const RARE_BEFORE = 100_000;
const CHUNK = 250_000;
/** Two sessions load faster than one on two cores. */
const SESSIONS = 2;

/** Conversions in the order of their time, with all brands mixed, as in production. */
const INSERT = `
  insert into records.conversions (brand_id, id, created_at, updated_at, campaign_id, link_id, creator_id, payout_id, status,
                                   external_id, order_amount_centavos, commission_centavos, currency, occurred_at, reversal_code)
  select 'brd_growth' || case when g % 5 < 2 then 0 else 1 + g % ${OTHER_BRANDS} end,
         'cnv_growth' || lpad(g::text, 18, '0'), at, at, 'cmp_growth' || lpad((g % 1000)::text, 20, '0'),
         'lnk_growth' || lpad((g % 5000)::text, 20, '0'), 'crt_growth' || lpad((g % 20000)::text, 20, '0'),
         case when g % 3 = 0 then 'po_growth' || lpad((g / 50)::text, 20, '0') end,
         case when g % 2500 = 0 and g < ${RARE_BEFORE} then 'reversed' when g % 3 = 0 then 'approved' else 'pending' end, 'ORD-' || g, 10000 + (g * 7919) % 900000, 500 + (g * 104729) % 45000,
         'PHP', at, null
    from (select g, timestamptz '2025-01-01 00:00:00Z' + g * interval '2 seconds' as at from generate_series($1::bigint, $2::bigint) g) made`;

/** Loads `count` conversions into the migrated table, with its indexes and checks. */
export async function loadConversions({ benchUrl }: BenchDatabase, count: number, log: (text: string) => void): Promise<void> {
  let next = 0;
  const load = (): Promise<void> =>
    withClient(benchUrl, async (client) => {
      await client.query("set synchronous_commit = off");
      // The outbox is not part of the measurement.
      await client.query("set brand_records.events = off");
      for (; next < count;) {
        const from = next;
        next += CHUNK;
        await client.query(INSERT, [from, Math.min(next, count) - 1]);
        if (from > 0 && from % 2_000_000 === 0) log(`    ${from.toLocaleString("en")} conversions`);
      }
    });
  await Promise.all(Array.from({ length: SESSIONS }, load));
  await withClient(benchUrl, async (client) => {
    await client.query("vacuum analyze records.conversions");
    await client.query("checkpoint");
  });
}

interface ImportModule {
  importRecords(
    db: Database,
    request: {
      readonly brandId: string;
      readonly resource: string;
      readonly skipBad: boolean;
      readonly chunks: AsyncIterable<readonly string[]>;
      readonly report: () => Promise<void>;
    },
  ): Promise<{ readonly inserted: number }>;
}

const CHUNK_LINES = 500;
/** An import is one transaction with long statements. */
const STATEMENT_MS = 300_000;

/** Compares the time of importing new conversions of the largest brand. */
export async function measureImports(small: BenchDatabase, large: BenchDatabase): Promise<Growth> {
  const { importRecords } = await importBuilt<ImportModule>("services/records/dist/use-cases/import-records.js");
  const pools = [small, large].map(({ databaseUrl: url }) =>
    openPool({ url, applicationName: "growth import", statementTimeoutMs: STATEMENT_MS }),
  );
  let imported = 0;
  const sides = [small, large].map((database, index) => ({
    database,
    call: async () => {
      const first = imported;
      imported += IMPORT_LINES;
      const request = { brandId: LARGEST_BRAND, resource: "conversions", skipBad: false, chunks: newLines(first), report: async () => {} };
      const { inserted } = await importRecords(pools[index] as Database, request);
      if (inserted !== IMPORT_LINES) throw new Error(`${inserted} of ${IMPORT_LINES} records were inserted`);
    },
  }));
  try {
    return await compareSizes(...(sides as [Side, Side]), IMPORT_ROUNDS);
  } finally {
    await Promise.all(pools.map((pool) => pool.stop()));
  }
}

async function* newLines(first: number): AsyncGenerator<string[]> {
  for (let from = first; from < first + IMPORT_LINES; from += CHUNK_LINES) {
    const count = Math.min(CHUNK_LINES, first + IMPORT_LINES - from);
    yield Array.from({ length: count }, (_, index) => JSON.stringify(conversion(from + index)));
  }
}

const conversion = (number: number) => ({
  id: `cnv_import${String(number).padStart(18, "0")}`,
  created_at: "2026-10-01T00:00:00.000Z",
  updated_at: "2026-10-01T00:00:00.000Z",
  campaign_id: "cmp_growth1",
  link_id: "lnk_growth1",
  creator_id: "crt_growth1",
  payout_id: null,
  status: "pending",
  external_id: `ORD-I${number}`,
  order_amount_centavos: 10_000,
  commission_centavos: 500,
  currency: "PHP",
  occurred_at: "2026-10-01T00:00:00.000Z",
  reversal_code: null,
});
