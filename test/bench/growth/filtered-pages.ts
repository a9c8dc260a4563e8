import { RecordsServiceService, type ListRequest, type RecordFilters } from "@brand-records/proto/records/v1";
import { connectRpc, newCallContext, type RpcClient } from "@brand-records/rpc";
import { compareSizes, type Growth, type Side } from "./compare-sizes.ts";
import { LARGEST_BRAND, SMALL_BRAND } from "./conversions.ts";
import type { RecordsSide } from "./pages.ts";
import { FILTERED_DEEP, FILTERED_PAIRS, PAGE_LIMIT } from "./settings.ts";

const SKIP_LIMIT = 200;
const CALL_MS = 30_000;

const CAMPAIGN = { campaign_id: `cmp_growth${"1".padStart(20, "0")}` };
const LINK = { link_id: `lnk_growth${"1".padStart(20, "0")}` };
/** Both sizes have conversions in these weeks. */
const TIMES = { created_from: "2025-01-02T00:00:00Z", created_before: "2025-01-20T00:00:00Z" };

interface FilteredPage {
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
  small_brand_unfiltered: { brand_id: SMALL_BRAND, filters: {} },
  small_brand_frequent_status: { brand_id: SMALL_BRAND, filters: { status: "approved" } },
  small_brand_absent_status: { brand_id: SMALL_BRAND, filters: { status: "pending" } },
} as const satisfies Record<string, FilteredPage>;

export type FilteredPageName = keyof typeof PAGES;

/** Compares filtered pages of a little and a large table, beside unfiltered ones of the same brands. */
export async function measureFilteredPages(small: RecordsSide, large: RecordsSide): Promise<Record<FilteredPageName, Growth>> {
  const clients = [small, large].map(({ address }) => connectRpc(RecordsServiceService, address));
  const results = {} as Record<FilteredPageName, Growth>;
  try {
    for (const [name, page] of Object.entries(PAGES) as [FilteredPageName, FilteredPage][]) {
      const sides = await Promise.all(
        [small, large].map(async ({ database }, index): Promise<Side> => {
          const client = clients[index] as RpcClient<RecordsServiceService>;
          const request = requestOf(page, await cursorAfter(client, page));
          return { database, call: () => list(client, { ...request, limit: PAGE_LIMIT }) };
        }),
      );
      results[name] = await compareSizes(...(sides as [Side, Side]), FILTERED_PAIRS);
    }
    return results;
  } finally {
    for (const client of clients) client.stop();
  }
}

const isFiltered = ({ filters }: FilteredPage): boolean => Object.keys(filters).length > 0;

function requestOf(page: FilteredPage, cursor: string | null): Omit<ListRequest, "limit"> {
  const { brand_id, filters } = page;
  return { brand_id, cursor, ...(isFiltered(page) && { filters }) };
}

async function cursorAfter(client: RpcClient<RecordsServiceService>, page: FilteredPage): Promise<string | null> {
  let cursor: string | null = null;
  for (let passed = 0; passed < (page.skipped ?? 0); passed += SKIP_LIMIT) {
    cursor = (await list(client, { ...requestOf(page, cursor), limit: SKIP_LIMIT })).next_cursor ?? null;
    if (cursor === null) throw new Error("a filtered list is too short");
  }
  return cursor;
}

const list = (client: RpcClient<RecordsServiceService>, request: ListRequest) =>
  client.listConversions(request, newCallContext(CALL_MS, "bench"));
