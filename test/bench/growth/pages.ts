import { type RecordFilters, RecordsServiceService } from "@brand-records/proto/records/v1";
import { connectRpc, newCallContext, type RpcClient } from "@brand-records/rpc";
import type { BenchDatabase } from "../harness/databases.ts";
import { compareSizes, type Growth, type Side } from "./compare-sizes.ts";
import { LARGEST_BRAND, SMALL_BRAND } from "./conversions.ts";
import { DEEP_PAGE, FILTERED_DEEP, FILTERED_PAIRS, PAGE_LIMIT, PAIRS } from "./settings.ts";

/** A cursor contains a position, not a page size: larger pages reach it sooner. */
const SKIP_LIMIT = 200;
const CALL_MS = 30_000;

export interface RecordsSide {
  readonly database: BenchDatabase;
  /** Address of a records service on this database. */
  readonly address: string;
}

type Records = RpcClient<RecordsServiceService>;

const CAMPAIGN = { campaign_id: `cmp_growth${"1".padStart(20, "0")}` };
const LINK = { link_id: `lnk_growth${"1".padStart(20, "0")}` };
/** Both sizes have conversions in these weeks. */
const TIMES = { created_from: "2025-01-02T00:00:00Z", created_before: "2025-01-20T00:00:00Z" };

interface Page {
  readonly brand_id: string;
  readonly filters: RecordFilters;
  /** Records before the page. Default: 0. */
  readonly skipped?: number;
}

/** Frequent, rare and absent values, of single filters and of the pairs that have an index. */
const PAGES = {
  unfiltered: { brand_id: LARGEST_BRAND, filters: {} },
  frequent_status: { brand_id: LARGEST_BRAND, filters: { status: "pending" } },
  frequent_status_deep: { brand_id: LARGEST_BRAND, filters: { status: "pending" }, skipped: FILTERED_DEEP },
  rare_status: { brand_id: LARGEST_BRAND, filters: { status: "reversed" } },
  status_in_times: { brand_id: LARGEST_BRAND, filters: { status: "approved", ...TIMES } },
  times: { brand_id: LARGEST_BRAND, filters: TIMES },
  campaign: { brand_id: LARGEST_BRAND, filters: CAMPAIGN },
  absent_campaign: { brand_id: LARGEST_BRAND, filters: { campaign_id: "cmp_nothing" } },
  campaign_and_status: { brand_id: LARGEST_BRAND, filters: { ...CAMPAIGN, status: "pending" } },
  campaign_and_absent_status: { brand_id: LARGEST_BRAND, filters: { ...CAMPAIGN, status: "reversed" } },
  link: { brand_id: LARGEST_BRAND, filters: LINK },
  link_and_status_in_times: { brand_id: LARGEST_BRAND, filters: { ...LINK, status: "pending", ...TIMES } },
  link_and_absent_status: { brand_id: LARGEST_BRAND, filters: { ...LINK, status: "reversed" } },
  order: { brand_id: LARGEST_BRAND, filters: { external_id: "ORD-5000" } },
  absent_order: { brand_id: LARGEST_BRAND, filters: { external_id: "ORD-nothing" } },
  small_brand_unfiltered: { brand_id: SMALL_BRAND, filters: {} },
  small_brand_frequent_status: { brand_id: SMALL_BRAND, filters: { status: "approved" } },
  small_brand_absent_status: { brand_id: SMALL_BRAND, filters: { status: "pending" } },
} as const satisfies Record<string, Page>;

export type FilteredPageName = keyof typeof PAGES;

/** Compares the newest page of the largest brand, and one far down its list, at the records service. */
export async function measurePages(small: RecordsSide, large: RecordsSide): Promise<{ first_page: Growth; deep_page: Growth }> {
  const first = { brand_id: LARGEST_BRAND, filters: {} };
  return comparePages(small, large, { first_page: first, deep_page: { ...first, skipped: DEEP_PAGE * PAGE_LIMIT } }, PAIRS);
}

/** Compares filtered pages of a little and a large table, beside unfiltered ones of the same brands. */
export function measureFilteredPages(small: RecordsSide, large: RecordsSide): Promise<Record<FilteredPageName, Growth>> {
  return comparePages(small, large, PAGES, FILTERED_PAIRS);
}

async function comparePages<Name extends string>(
  small: RecordsSide,
  large: RecordsSide,
  pages: Readonly<Record<Name, Page>>,
  pairs: number,
): Promise<Record<Name, Growth>> {
  const clients = [small, large].map(({ address }) => connectRpc(RecordsServiceService, address));
  const results = {} as Record<Name, Growth>;
  try {
    for (const [name, page] of Object.entries(pages) as [Name, Page][]) {
      const sides = await Promise.all(
        [small, large].map(async ({ database }, index): Promise<Side> => {
          const client = clients[index] as Records;
          const cursor = await cursorAfter(client, page);
          return { database, call: () => list(client, page, PAGE_LIMIT, cursor) };
        }),
      );
      results[name] = await compareSizes(...(sides as [Side, Side]), pairs);
    }
    return results;
  } finally {
    for (const client of clients) client.stop();
  }
}

async function cursorAfter(client: Records, page: Page): Promise<string | null> {
  const { skipped = 0 } = page;
  let cursor: string | null = null;
  for (let passed = 0; passed < skipped; passed += SKIP_LIMIT) {
    cursor = (await list(client, page, Math.min(SKIP_LIMIT, skipped - passed), cursor)).next_cursor ?? null;
    if (cursor === null) throw new Error(`a list has fewer than ${skipped} records`);
  }
  return cursor;
}

async function list(client: Records, { brand_id, filters }: Page, limit: number, cursor: string | null) {
  const isFiltered = Object.keys(filters).length > 0;
  const page = await client.listConversions({ brand_id, limit, cursor, ...(isFiltered && { filters }) }, newCallContext(CALL_MS, "bench"));
  const isLong = brand_id === LARGEST_BRAND && !isFiltered;
  if (isLong && page.data.length !== limit) throw new Error(`a page has ${page.data.length} records, not ${limit}`);
  return page;
}
