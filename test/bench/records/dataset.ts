import { unnestRows } from "@brand-records/postgres";
import { sized } from "../harness/size.ts";

/**
 * A million conversions of a thousand brands; the first brand has 400,000. Rows are in the table as in production: by time,
 * with all brands mixed. Every record contains its brand and its ordinal within the brand, so that a response can be checked
 * without the database.
 */
export const BRANDS = sized(1_000, 100);
export const RECORDS = sized(1_000_000, 25_000);
export const LARGEST_BRAND_RECORDS = 0.4 * RECORDS;
const OTHER_BRANDS = BRANDS - 1;
const OTHER_RECORDS = RECORDS - LARGEST_BRAND_RECORDS;

/** Each has the conversions of one brand, or of several if it is not the largest. */
const LINKS = 5_000;

/** The link of the largest brand's oldest conversion and of every 5,000th after it: 200 of a million, far apart. */
export const LINK_OF_LARGEST_BRAND = `lnk_01kbench${"0".repeat(18)}`;
export const NEWEST_OF_LINK = ((RECORDS - LINKS) / 5) * 2;

/** 26 characters, as long as real ones. */
export const brandId = (brand: number): string => `brd_01kbench${String(brand).padStart(18, "0")}`;

export function recordsOf(brand: number): number {
  return brand === 0 ? LARGEST_BRAND_RECORDS : Math.ceil((OTHER_RECORDS - (brand - 1)) / OTHER_BRANDS);
}

/** Returns the prefix of campaign_id in all records of the brand, and in no other. */
export const campaignPrefix = (brand: number): string => `cmp_01kbench${String(brand).padStart(4, "0")}`;

/** @param ordinal within the brand, oldest first, from 0 */
export const externalId = (ordinal: number): string => `ORD-${String(ordinal).padStart(6, "0")}`;

/** Two of five consecutive records belong to the largest brand; the others take turns with the rest. */
export const INSERT_RECORDS = `
  insert into records.conversions (brand_id, id, created_at, updated_at, campaign_id, link_id, creator_id, payout_id, status,
                                   external_id, order_amount_centavos, commission_centavos, currency, occurred_at, reversal_code)
  select 'brd_01kbench' || lpad(brand::text, 18, '0'),
         'cnv_01kbench' || lpad(g::text, 18, '0'),
         at,
         at + interval '1 hour',
         'cmp_01kbench' || lpad(brand::text, 4, '0') || lpad((ordinal / 100)::text, 14, '0'),
         'lnk_01kbench' || lpad((g % ${LINKS})::text, 18, '0'),
         'crt_01kbench' || lpad((g % 20000)::text, 18, '0'),
         case when g % 3 = 0 then 'po_01kbench' || lpad((g / 50)::text, 18, '0') end,
         case when g % 10 = 7 then 'reversed' when g % 3 = 0 then 'approved' else 'pending' end,
         'ORD-' || lpad(ordinal::text, 6, '0'),
         10000 + (g * 7919) % 900000,
         500 + (g * 104729) % 45000,
         'PHP',
         at - interval '90 seconds',
         case when g % 10 = 7 then 'returned' end
    from (select g,
                 case when g % 5 < 2 then 0 else 1 + ((g / 5) * 3 + g % 5 - 2) % ${OTHER_BRANDS} end as brand,
                 case when g % 5 < 2 then (g / 5) * 2 + g % 5 else ((g / 5) * 3 + g % 5 - 2) / ${OTHER_BRANDS} end as ordinal,
                 timestamptz '2026-01-01 00:00:00Z' + g * interval '10 seconds' + (g * 7919 % 9000) * interval '1 millisecond' as at
            from generate_series(0::bigint, ${RECORDS - 1}) as g) as numbered`;

export const NEW_BRANDS = unnestRows({ id: "text" });
export const NEW_KEYS = unnestRows({ key_id: "text", brand_id: "text", hint: "text", key_hash: "bytea" }, { after: 1 });

/**
 * Brands that have not changed for a day. Epochs of the last ten minutes are published every second: a thousand new brands
 * would be an unrealistic load.
 */
export const INSERT_BRANDS = `
  insert into accounts.brands (id, name, tier, verified, epoch_changed_at, created_at)
  select id, 'Bench ' || id, 'enterprise', true, now() - interval '1 day', now() - interval '1 day' from ${NEW_BRANDS.relation}`;

export const INSERT_KEYS = `
  insert into accounts.keys (id, brand_id, environment, name, permissions, hint, pepper_version, key_hash, created_by)
  select key_id, brand_id, 'live', 'Bench', '{records:read}', hint, $1, key_hash, 'owner@bench.example'
    from ${NEW_KEYS.relation}`;
