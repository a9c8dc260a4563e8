import { type Database, openPool, type PoolOptions, type Sql } from "@brand-records/postgres";
import type { BenchDatabase } from "../harness/databases.ts";
import { importBuilt } from "../harness/programs.ts";
import { compareSizes, type Growth, type Side } from "./compare-sizes.ts";
import { CLAIM_LEASE_SECONDS, CLAIMED_PER_LANE, LANES_PER_CLAIM, PAGE_LIMIT } from "./settings.ts";

interface ClaimModule {
  claimDeliveries(
    db: Database,
    wanted: { readonly max: number; readonly failing: boolean; readonly crowded: boolean; readonly leaseSeconds: number },
  ): Promise<unknown[]>;
}

/** How webhook's connections that claim are opened. */
interface ByIndexModule {
  readonly BY_INDEX: Pick<PoolOptions, "settings">;
}

/** Thrown inside the claim's transaction to roll it back: the next claim finds the same. */
class ClaimUndone extends Error {
  readonly result: unknown;

  constructor(result: unknown) {
    super("undone");
    this.result = result;
  }
}

/** Compares a claim of as many lanes and deliveries on both sides. */
export async function measureClaims(small: BenchDatabase, large: BenchDatabase): Promise<Growth> {
  const { claimDeliveries } = await importBuilt<ClaimModule>("services/webhook/dist/storage/claims.js");
  const { BY_INDEX } = await importBuilt<ByIndexModule>("services/webhook/dist/storage/claims.js");
  const pools = [small, large].map(({ databaseUrl: url }) => openPool({ url, applicationName: "growth claims", max: 1, ...BY_INDEX }));
  const wanted = { max: LANES_PER_CLAIM * CLAIMED_PER_LANE, failing: true, crowded: false, leaseSeconds: CLAIM_LEASE_SECONDS };
  const sides = [small, large].map((database, index) => ({
    database,
    call: async () => {
      const claimed = await claimDeliveries(undoing(pools[index] as Database), wanted);
      if (claimed.length !== wanted.max) throw new Error(`a claim took ${claimed.length} deliveries, not ${wanted.max}`);
    },
  }));
  try {
    return await compareSizes(...(sides as [Side, Side]));
  } finally {
    await Promise.all(pools.map((pool) => pool.stop()));
  }
}

/** Returns a database whose transactions return their result and leave nothing behind. */
function undoing(db: Database): Database {
  return {
    ...db,
    async transaction<T>(work: Parameters<typeof db.transaction<T>>[0]): Promise<T> {
      try {
        return await db.transaction<T>(async (sql) => {
          throw new ClaimUndone(await work(sql));
        });
      } catch (error) {
        if (error instanceof ClaimUndone) return error.result as T;
        throw error;
      }
    },
  };
}

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
type ListName = keyof typeof LISTS;

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
