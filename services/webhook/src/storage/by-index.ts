import type { TransactionOptions } from "@brand-records/postgres";

/**
 * For transactions that send: statements that are prepared in them are planned once for each connection, and find each row by its index.
 *
 * Planning takes longer than these statements do with a few deliveries, because a plan names every partition. Left to itself, a plan that was
 * made while the tables were small scans them when they are not. A connection keeps the plan that it made first, so a statement that needs this
 * one is in no other transactions.
 */
export const BY_INDEX = {
  settings: {
    plan_cache_mode: "force_generic_plan",
    enable_seqscan: "off",
    enable_bitmapscan: "off",
    enable_hashjoin: "off",
    enable_mergejoin: "off",
  },
} satisfies TransactionOptions;
