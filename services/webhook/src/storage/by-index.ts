/**
 * For the connections that send: prepared statements are planned once for each connection, and find each row by its index.
 *
 * Planning takes longer than these statements do with a few deliveries, because a plan names every partition. Left to itself, a plan that was
 * made while the tables were small scans them when they are not.
 */
export const BY_INDEX = {
  settings: {
    plan_cache_mode: "force_generic_plan",
    enable_seqscan: "off",
    enable_bitmapscan: "off",
    enable_hashjoin: "off",
    enable_mergejoin: "off",
  },
} as const;

/**
 * A condition that pending deliveries meet, on columns of `webhook.deliveries`. Queries that need an index of lists add it to
 * `state = 'pending'`. Claims must not: the planner would use these indexes for them, too. Misled by dead rows, it read one
 * whole for each lane, 3.2 million buffers and 2.2 s with 16 lanes locked.
 */
export const UNLEASED = "lease is null";
