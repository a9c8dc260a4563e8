import { sized } from "../harness/size.ts";

/** How much data each side has. */
export const RECORDS_SMALL = sized(1_000_000, 25_000);
export const RECORDS_LARGE = sized(20_000_000, 75_000);
export const BRANDS_SMALL = sized(200, 20);
export const BRANDS_LARGE = sized(200_000, 200);
export const RECEIVERS_SMALL = sized(50, 20);
export const RECEIVERS_LARGE = sized(20_000, 100);
export const FINISHED_SMALL = sized(10_000, 1_000);
export const FINISHED_LARGE = sized(10_000_000, 5_000);
export const MEMORY_MINUTES = sized(10, 0.05);

/**
 * One claim takes this many from each of its lanes. All databases have as many pending deliveries as the one with the most receivers,
 * where each has this many: otherwise the depth of the indexes on deliveries would count as a cost of receivers.
 */
export const CLAIMED_PER_LANE = 16;
export const LANES_PER_CLAIM = 16;
export const CLAIM_LEASE_SECONDS = 60;

export const PAGE_LIMIT = 50;
/** Pages before the deep one. */
export const DEEP_PAGE = sized(5_000, 100);
/** Records before the deep filtered page. */
export const FILTERED_DEEP = 1_000;
export const FILTERED_PAIRS = sized(100, 4);
/** Different keys that are verified. */
export const KEYS = sized(100, 10);
export const IMPORT_LINES = sized(20_000, 500);
export const IMPORT_ROUNDS = sized(3, 1);
/** Calls of each side, alternating. */
export const PAIRS = sized(300, 10);
export const PROCESS_COUNTS = [1, 2, 4] as const;
export const PROCESS_ROUNDS = sized(2, 1);

/** Upper bound on the large side's median time over the small side's. */
export const RATIO_MAX = 1.2;
