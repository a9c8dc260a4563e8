export const RECEIVERS = 50;
/** Of the request's body: what an event has with a generous record. */
export const BODY_BYTES = 2_048;
/** Of a round: some 25 seconds' worth of the target. */
export const DELIVERIES = 30_000;
export const ROUNDS = 3;
/** The undici loop's, over all receivers: as many as the product may have under way to each. */
export const LIMIT_IN_FLIGHT = 64 * RECEIVERS;
export const LIMIT_SECONDS = 6;

export const RATE_PER_SECOND = 300;
export const RATE_SECONDS = 20;
/** Beyond which a receiver that hangs has hung long enough for its breaker to know. */
export const HANGING = RECEIVERS / 10;
export const BACKLOG = 200_000;

export const TARGETS = {
  deliveries_per_second: 1_200,
  statements_per_delivery: 3,
  p99_ms: 250,
  healthy_p99_with_hanging_over_without: 1.5,
} as const;
