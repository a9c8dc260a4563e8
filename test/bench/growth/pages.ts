import { RecordsServiceService } from "@brand-records/proto/records/v1";
import { connectRpc, newCallContext, type RpcClient } from "@brand-records/rpc";
import type { BenchDatabase } from "../databases.ts";
import { compareSizes, type Growth, type Side } from "./compare-sizes.ts";
import { LARGEST_BRAND } from "./conversions.ts";
import { DEEP_PAGE, PAGE_LIMIT } from "./settings.ts";

/** A cursor contains a position, not a page size: larger pages reach it sooner. */
const SKIP_LIMIT = 200;
const CALL_MS = 30_000;

export interface RecordsSide {
  readonly database: BenchDatabase;
  /** Address of a records service on this database. */
  readonly address: string;
}

type Records = RpcClient<RecordsServiceService>;

/** Compares the newest page of the largest brand, and one far down its list, at the records service. */
export async function measurePages(small: RecordsSide, large: RecordsSide): Promise<{ first_page: Growth; deep_page: Growth }> {
  const clients = [small, large].map(({ address }) => connectRpc(RecordsServiceService, address));
  try {
    const first = sidesOf([small, large], clients, [null, null]);
    const deep = sidesOf([small, large], clients, await Promise.all(clients.map((client) => deepCursor(client))));
    return { first_page: await compareSizes(...first), deep_page: await compareSizes(...deep) };
  } finally {
    for (const client of clients) client.stop();
  }
}

function sidesOf(sides: readonly RecordsSide[], clients: readonly Records[], cursors: readonly (string | null)[]): [Side, Side] {
  return sides.map(({ database }, index) => ({
    database,
    call: () => list(clients[index] as Records, PAGE_LIMIT, cursors[index] ?? null),
  })) as [Side, Side];
}

async function deepCursor(client: Records): Promise<string> {
  let cursor: string | null = null;
  for (let passed = 0; passed < DEEP_PAGE * PAGE_LIMIT;) {
    const limit = Math.min(SKIP_LIMIT, DEEP_PAGE * PAGE_LIMIT - passed);
    cursor = (await list(client, limit, cursor)).next_cursor ?? null;
    if (cursor === null) throw new Error(`the largest brand has fewer than ${DEEP_PAGE} pages`);
    passed += limit;
  }
  return cursor ?? "";
}

async function list(client: Records, limit: number, cursor: string | null) {
  const page = await client.listConversions({ brand_id: LARGEST_BRAND, limit, cursor }, newCallContext(CALL_MS, "bench"));
  if (page.data.length !== limit) throw new Error(`a page has ${page.data.length} records, not ${limit}`);
  return page;
}
