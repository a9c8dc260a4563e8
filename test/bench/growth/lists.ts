import { openPool, type Sql } from "@brand-records/postgres";
import type { BenchDatabase } from "../databases.ts";
import { importBuilt } from "../built.ts";
import { compareSizes, type Growth, type Side } from "./compare-sizes.ts";
import { PAGE_LIMIT } from "./settings.ts";

interface ListModule {
  pageOfDeliveries(sql: Sql, page: object): Promise<{ readonly deliveries: readonly unknown[] }>;
}

const ALL_STATES = ["pending", "sending", "held", "delivered", "failed"];
const EVERYTHING = {
  brandId: "brd_1",
  receiverId: "rcv_1",
  events: null,
  states: ALL_STATES,
  type: null,
  from: null,
  to: null,
  statusClass: null,
  afterId: null,
  limit: PAGE_LIMIT,
};

/** Lists as the console shows them. */
const LISTS = {
  all: EVERYTHING,
  failed: { ...EVERYTHING, states: ["failed"] },
  of_type: { ...EVERYTHING, type: "submission.approved" },
} as const;
export type ListName = keyof typeof LISTS;

/** Compares the console's lists of a receiver's deliveries. */
export async function measureLists(small: BenchDatabase, large: BenchDatabase): Promise<Record<ListName, Growth>> {
  const { pageOfDeliveries } = await importBuilt<ListModule>("services/webhook/dist/storage/delivery-lists.js");
  const pools = [small, large].map(({ databaseUrl: url }) => openPool({ url, applicationName: "growth lists", max: 1 }));
  const results = {} as Record<ListName, Growth>;
  try {
    for (const [name, list] of Object.entries(LISTS) as [ListName, object][]) {
      const sides = [small, large].map((database, index) => ({
        database,
        call: async () => {
          const { deliveries } = await pageOfDeliveries(pools[index] as Sql, list);
          if (deliveries.length === 0) throw new Error(`the list ${name} is empty`);
        },
      }));
      results[name] = await compareSizes(...(sides as [Side, Side]));
    }
    return results;
  } finally {
    await Promise.all(pools.map((pool) => pool.stop()));
  }
}
