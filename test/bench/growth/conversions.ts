import { withClient, type BenchDatabase } from "../databases.ts";

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
