import { RecordsServiceService, type ListConversionsResponse } from "@brand-records/proto/records/v1";
import { connectRpc, newCallContext, type RpcClient } from "@brand-records/rpc";
import pg from "pg";
import { pageValues, productStatement } from "./baseline/page.ts";
import { brandId, externalId, LARGEST_BRAND_RECORDS } from "./dataset.ts";
import { DEEP_PAGE, DEEP_PAIRS, PAGE_LIMIT } from "./settings.ts";
import { spreadOf } from "../statistics.ts";

/** A cursor contains a position, not a page size: larger pages reach it sooner. */
const SKIP_LIMIT = 200;
const WARM_UP_PAIRS = DEEP_PAIRS / 10;
const LARGEST_BRAND = 0;

type Records = RpcClient<RecordsServiceService>;

export interface DeepPage {
  readonly first_page_ms: number;
  readonly deep_page_ms: number;
  /** Ratio of the medians. */
  readonly time_ratio: number;
  /** 8 KiB blocks that Postgres reads, cached or not. */
  readonly first_page_blocks: number;
  readonly deep_page_blocks: number;
}

/** Compares a page 250,000 records down the largest brand's list with its first page, alternately, at the records service. */
export async function measureDeepPage(recordsAddress: string, databaseUrl: string): Promise<DeepPage> {
  const records = connectRpc(RecordsServiceService, recordsAddress);
  try {
    const cursor = await cursorAfterNewest(records, DEEP_PAGE * PAGE_LIMIT);
    const times = { first: [] as number[], deep: [] as number[] };
    for (let pair = -WARM_UP_PAIRS; pair < DEEP_PAIRS; pair += 1) {
      const order = pair % 2 === 0 ? (["first", "deep"] as const) : (["deep", "first"] as const);
      for (const which of order) {
        const startedAt = performance.now();
        const page = await list(records, PAGE_LIMIT, which === "deep" ? cursor : null);
        const elapsed = performance.now() - startedAt;
        requireOrdinal(page, LARGEST_BRAND_RECORDS - 1 - (which === "deep" ? DEEP_PAGE * PAGE_LIMIT : 0));
        if (pair >= 0) times[which].push(elapsed);
      }
    }
    const [first, deep] = [spreadOf(times.first).median, spreadOf(times.deep).median];
    const blocks = await blocksOf(databaseUrl, [null, cursor]);
    return {
      first_page_ms: first,
      deep_page_ms: deep,
      time_ratio: deep / first,
      first_page_blocks: blocks[0] ?? Number.NaN,
      deep_page_blocks: blocks[1] ?? Number.NaN,
    };
  } finally {
    records.stop();
  }
}

/** Returns the cursor after the `count` newest records, reached page by page as by any client. */
async function cursorAfterNewest(records: Records, count: number): Promise<string> {
  let cursor: string | null = null;
  for (let skipped = 0; skipped < count; skipped += SKIP_LIMIT) {
    const page: ListConversionsResponse = await list(records, SKIP_LIMIT, cursor);
    requireOrdinal(page, LARGEST_BRAND_RECORDS - 1 - skipped);
    cursor = page.next_cursor ?? null;
  }
  if (cursor === null) throw new Error("the list ended before the deep page");
  return cursor;
}

function list(records: Records, limit: number, cursor: string | null): Promise<ListConversionsResponse> {
  const context = newCallContext(10_000, "bench");
  return records.listConversions({ brand_id: brandId(LARGEST_BRAND), limit, cursor, since: null }, context);
}

function requireOrdinal({ data }: ListConversionsResponse, newest: number): void {
  const found = data[0]?.external_id;
  if (found !== externalId(newest)) throw new Error(`the page of the largest brand begins with ${found}, not ${externalId(newest)}`);
}

async function blocksOf(databaseUrl: string, cursors: readonly (string | null)[]): Promise<number[]> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: "bench" });
  await client.connect();
  try {
    const found: number[] = [];
    for (const cursor of cursors) found.push(await blocksOfPage(client, cursor));
    return found;
  } finally {
    await client.end();
  }
}

async function blocksOfPage(client: pg.Client, cursor: string | null): Promise<number> {
  const { text } = await productStatement();
  const values = pageValues(brandId(LARGEST_BRAND), PAGE_LIMIT, cursor);
  const { rows } = await client.query(`explain (analyze, buffers, format json) ${text}`, values);
  const [{ Plan: plan }] = (rows as { "QUERY PLAN": [{ Plan: Record<string, number> }] }[])[0]?.["QUERY PLAN"] ?? [{ Plan: {} }];
  return (plan["Shared Hit Blocks"] ?? Number.NaN) + (plan["Shared Read Blocks"] ?? Number.NaN);
}
