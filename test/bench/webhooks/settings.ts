import { sized } from "../size.ts";

export const RECEIVERS = sized(50, 10);
/** Size of a request's body: an event with a large record. */
export const BODY_BYTES = 2_048;
/** Deliveries a round: about 25 seconds at the target rate. */
export const DELIVERIES = sized(30_000, 300);
export const ROUNDS = sized(3, 1);
/** Requests in flight of the undici loop over all receivers: the product's limit per receiver, times the receivers. */
export const LIMIT_IN_FLIGHT = 64 * RECEIVERS;
export const LIMIT_SECONDS = sized(6, 0.3);

export const RATE_PER_SECOND = sized(300, 20);
export const RATE_SECONDS = sized(20, 2);
/** Connections that commit the changes: 300/s need a commit every 27 ms of each. */
export const WRITERS = 8;
/** A phase whose changes take longer has not kept the rate: its latencies are those of another load. */
export const RATE_SECONDS_MAX = sized(1.1 * RATE_SECONDS, 60);
/** How many receivers hang. */
export const HANGING = RECEIVERS / 10;
export const BACKLOG = sized(200_000, 500);

export const TARGETS = {
  deliveries_per_second: 1_200,
  statements_per_delivery: 3,
  p99_ms: 250,
  healthy_p99_with_hanging_over_without: 1.5,
} as const;
