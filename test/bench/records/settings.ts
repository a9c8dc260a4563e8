/** What is compared and how. Fixed, so that runs on one machine can be compared with each other. */

export const PAGE_LIMIT = 50;
/** Requests under way at any time: every connection sends its next when it has its answer. */
export const CONNECTIONS = 32;
/** Postgres connections of every variant; the product's default. */
export const POOL_SIZE = 10;
/** Of every variant's HTTP server; what the product does. */
export const KEEP_ALIVE_MS = 65_000;

export const ROUNDS = 6;
export const ROUND_SECONDS = 5;
export const WARM_UP_SECONDS = 4;
/** Other programs using more of the machine's cores than this disturb a turn, and it is taken again: so often in a run. */
export const FOREIGN_CORES_MAX = 0.1;
export const REPEATS_MAX = 12;

export const DEEP_PAGE = 5_000;
export const DEEP_PAIRS = 1_000;

/** What the product should reach; a target that is missed is reported. */
export const TARGETS = {
  product_over_bare: { atLeast: 0.8 },
  product_over_single: { atLeast: 0.35 },
  deep_over_first: { atMost: 1.2 },
} as const;
