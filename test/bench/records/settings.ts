import { sized } from "../harness/size.ts";
import { BRANDS } from "./dataset.ts";
import type { VariantName } from "./load/start-load.ts";

/** Fixed, so that runs on one machine can be compared with each other. */

export const PAGE_LIMIT = 50;
/** Each sends its next request after its last response: this many requests are always in flight. */
export const CONNECTIONS = 32;
/** Postgres connections of every variant; the product's default. */
export const POOL_SIZE = 10;
/** Keep-alive of every variant's HTTP server; the product's default. */
export const KEEP_ALIVE_MS = 65_000;

export const ROUNDS = sized(6, 1);
/** Pairs of a turn with and one without tracing. */
export const TRACING_ROUNDS = sized(12, 1);
/** Pairs of turns of two builds. */
export const AGAINST_ROUNDS = sized(12, 2);
/** Then all processes start again. Even: each build is first equally often. */
export const AGAINST_ROUNDS_PER_PART = 4;
export const AGAINST_REPEATS_PER_PART = sized(4, 0);
export const ROUND_SECONDS = sized(4, 0.3);
export const WARM_UP_SECONDS = sized(4, 0.3);
/** How many disturbed turns of a run are repeated. */
export const REPEATS_MAX = sized(12, 0);

/** How long the gateway caches a key's principal. */
const KEY_CACHE_SECONDS = 30;
/** Each turn uses the next set. A set is used again only after its keys have left the gateway's cache. */
export const KEY_SETS = sized(Math.ceil(KEY_CACHE_SECONDS / ROUND_SECONDS) + 2, 20);
/** How many brands send a request before a turn is measured: all but the share of keys that expires during a turn. */
export const LEAD_IN_BRANDS = Math.round(BRANDS * (1 - ROUND_SECONDS / KEY_CACHE_SECONDS));

export const DEEP_PAGE = sized(5_000, 100);
export const DEEP_PAIRS = sized(1_000, 20);

/** Requests/s of one variant relative to another's, with its target. */
export const RATE_RATIOS: Readonly<Record<string, RateRatio>> = {
  product_over_bare: { of: "product", to: "bare", atLeast: 0.9 },
  product_over_single: { of: "product", to: "single", atLeast: 0.35 },
  tool_over_page: { of: "tool", to: "product", atLeast: 0.8 },
  fields_over_tool: { of: "fields", to: "tool" },
  tool_over_sdk: { of: "tool", to: "sdk", atLeast: 3 },
};

interface RateRatio extends Target {
  readonly of: VariantName;
  readonly to: VariantName;
}

export interface Target {
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** Time of a deep page relative to that of a first page. */
export const DEEP_OVER_FIRST: Target = { atMost: 1.2 };
