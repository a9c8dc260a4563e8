import { RecordsServiceService, type ListConversionsResponse, type ListRequest } from "@brand-records/proto/records/v1";
import { connectRpc, newCallContext, type RpcClient } from "@brand-records/rpc";
import pg from "pg";
import { pageValues, productStatement } from "./baseline/page.ts";
import { brandId, externalId, LARGEST_BRAND_RECORDS, LINK_OF_LARGEST_BRAND, NEWEST_OF_LINK } from "./dataset.ts";
import { DEEP_PAGE, DEEP_PAIRS, PAGE_LIMIT } from "./settings.ts";
import { spreadOf } from "../harness/statistics.ts";

/** A cursor contains a position, not a page size: larger pages reach it sooner. */
const SKIP_LIMIT = 200;
const WARM_UP_PAIRS = DEEP_PAIRS / 10;
const LARGEST_BRAND = 0;

type Records = RpcClient<RecordsServiceService>;

export interface DeepPage {
  readonly first_page_ms: number;
  readonly deep_page_ms: number;
  /** The newest conversions of one link: the records of an unfiltered page lie beside each other, these lie far apart. */
  readonly filtered_page_ms: number;
  /** Ratios of the medians. */
  readonly time_ratio: number;
  readonly filtered_time_ratio: number;
  /** 8 KiB blocks that Postgres reads, cached or not. */
  readonly first_page_blocks: number;
  readonly deep_page_blocks: number;
  readonly filtered_page_blocks: number;
}

const FILTERS = { link_id: LINK_OF_LARGEST_BRAND };

/** Compares a page 250,000 records down the largest brand's list, and a filtered one, with its first page, in turn, at the records service. */
export async function measureDeepPage(recordsAddress: string, databaseUrl: string): Promise<DeepPage> {
  const records = connectRpc(RecordsServiceService, recordsAddress);
  try {
    const cursor = await cursorAfterNewest(records, DEEP_PAGE * PAGE_LIMIT);
    const pages = {
      first: { request: {}, newest: LARGEST_BRAND_RECORDS - 1 },
      deep: { request: { cursor }, newest: LARGEST_BRAND_RECORDS - 1 - DEEP_PAGE * PAGE_LIMIT },
      filtered: { request: { filters: FILTERS }, newest: NEWEST_OF_LINK },
    } as const;
    const names = Object.keys(pages) as (keyof typeof pages)[];
    const times = { first: [] as number[], deep: [] as number[], filtered: [] as number[] };
    for (let round = -WARM_UP_PAIRS; round < DEEP_PAIRS; round += 1) {
      for (const name of round % 2 === 0 ? names : names.toReversed()) {
        const { request, newest } = pages[name];
        const startedAt = performance.now();
        const page = await list(records, PAGE_LIMIT, request);
        const elapsed = performance.now() - startedAt;
        requireOrdinal(page, newest);
        if (round >= 0) times[name].push(elapsed);
      }
    }
    const [first, deep, filtered] = names.map((name) => spreadOf(times[name]).median) as [number, number, number];
    const [firstBlocks, deepBlocks, filteredBlocks] = await blocksOf(databaseUrl, cursor);
    return {
      first_page_ms: first,
      deep_page_ms: deep,
      filtered_page_ms: filtered,
      time_ratio: deep / first,
      filtered_time_ratio: filtered / first,
      first_page_blocks: firstBlocks,
      deep_page_blocks: deepBlocks,
      filtered_page_blocks: filteredBlocks,
    };
  } finally {
    records.stop();
  }
}

/** Returns the cursor after the `count` newest records, reached page by page as by any client. */
async function cursorAfterNewest(records: Records, count: number): Promise<string> {
  let cursor: string | null = null;
  for (let skipped = 0; skipped < count; skipped += SKIP_LIMIT) {
    const page: ListConversionsResponse = await list(records, SKIP_LIMIT, { cursor });
    requireOrdinal(page, LARGEST_BRAND_RECORDS - 1 - skipped);
    cursor = page.next_cursor ?? null;
  }
  if (cursor === null) throw new Error("the list ended before the deep page");
  return cursor;
}

function list(records: Records, limit: number, request: Pick<ListRequest, "cursor" | "filters">): Promise<ListConversionsResponse> {
  const context = newCallContext(10_000, "bench");
  return records.listConversions({ brand_id: brandId(LARGEST_BRAND), limit, ...request }, context);
}

function requireOrdinal({ data }: ListConversionsResponse, newest: number): void {
  const found = data[0]?.external_id;
  if (found !== externalId(newest)) throw new Error(`the page of the largest brand begins with ${found}, not ${externalId(newest)}`);
}

/** Returns the blocks of the first, the deep and the filtered page. */
async function blocksOf(databaseUrl: string, cursor: string): Promise<[first: number, deep: number, filtered: number]> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: "bench" });
  await client.connect();
  try {
    const [plain, filtered] = [await productStatement(), await productStatement(FILTERS)];
    const valuesAt = (position: string | null): unknown[] => pageValues(brandId(LARGEST_BRAND), PAGE_LIMIT, position);
    return [
      await blocksOfPage(client, plain.text, valuesAt(null)),
      await blocksOfPage(client, plain.text, valuesAt(cursor)),
      await blocksOfPage(client, filtered.text, [...valuesAt(null), FILTERS.link_id]),
    ];
  } finally {
    await client.end();
  }
}

async function blocksOfPage(client: pg.Client, text: string, values: unknown[]): Promise<number> {
  const { rows } = await client.query(`explain (analyze, buffers, format json) ${text}`, values);
  const [{ Plan: plan }] = (rows as { "QUERY PLAN": [{ Plan: Record<string, number> }] }[])[0]?.["QUERY PLAN"] ?? [{ Plan: {} }];
  return (plan["Shared Hit Blocks"] ?? Number.NaN) + (plan["Shared Read Blocks"] ?? Number.NaN);
}
