import { openPool, type Database } from "@brand-records/postgres";
import type { BenchDatabase } from "../databases.ts";
import { importBuilt } from "../built.ts";
import { compareSizes, type Growth, type Side } from "./compare-sizes.ts";
import { LARGEST_BRAND } from "./conversions.ts";
import { IMPORT_LINES, IMPORT_ROUNDS } from "./settings.ts";

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
