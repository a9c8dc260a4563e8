import { sized } from "../harness/size.ts";

export const RECEIVERS = sized(50, 10);
/** Size of a request's body: an event with a large record. */
export const BODY_BYTES = 2_048;
/** Deliveries of a burst: about 25 seconds at the target rate. */
export const DELIVERIES = sized(30_000, 300);
/** Rounds of bursts and of steady phases. Each ratio is formed within its round. */
export const ROUNDS = sized(3, 1);
/** Rounds with `--against`, each with a burst of both builds. */
export const AGAINST_ROUNDS = sized(6, 2);
/** Requests in flight of the undici loop over all receivers: the product's limit per receiver, times the receivers. */
export const LIMIT_IN_FLIGHT = 64 * RECEIVERS;
export const LIMIT_SECONDS = sized(6, 0.3);

export const RATE_PER_SECOND = sized(300, 20);
export const RATE_SECONDS = sized(18, 1);
/** Rate of the phase with a dump, and of the calm it is compared to. */
export const DUMP_RATE_PER_SECOND = sized(500, 40);
export const DUMP_CALM_SECONDS = sized(10, 1);
export const DUMP_SECONDS = sized(60, 2);
/** How long a snapshot from before the deletion of the backlog stays open in its phase. */
export const SNAPSHOT_SECONDS = sized(6, 0.5);
/** Connections that commit the changes: 300/s need a commit every 27 ms of each. */
export const WRITERS = 8;
/** How many receivers hang. */
export const HANGING = RECEIVERS / 10;
export const BACKLOG = sized(200_000, 2_000);
/** Number of the receiver with the backlog. */
export const BEHIND = 0;
/** How long the backlog is sent without other events. */
export const BACKLOG_ALONE_SECONDS = sized(6, 0.5);

/** A phase whose changes take longer than this share of their time has not kept the rate: its latencies are those of another load. */
export const RATE_TIME_MAX = sized(1.1, 60);
/** Disturbed phases and bursts that a run repeats: each takes half a minute, `dump` over a minute. */
export const REPEATS_MAX = sized(4, 0);
/** Bursts that a comparison of two builds repeats. */
export const AGAINST_REPEATS_MAX = sized(12, 0);

export const TARGETS = {
  deliveries_per_second: 1_200,
  product_over_limit: 0.22,
  statements_per_delivery: 0.09,
  /** The calm's. */
  p99_ms: 50,
  /** Each disturbed phase's. */
  p99_over_calm: 1.3,
  /** The rate of the receiver that is behind, beside the others' events. */
  backlog_per_second: 500,
} as const;
