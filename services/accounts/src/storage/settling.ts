import { SETTLED_AFTER_SECONDS } from "../domain/brand.ts";

const SETTLED_AFTER_MS = SETTLED_AFTER_SECONDS * 1_000;

/**
 * SQL of the milliseconds until whatever began before `begunAt` has ended; 0 when it has. Columns of times round to milliseconds, so
 * `begunAt` may be half a millisecond ahead of the clock.
 *
 * @param begunAt SQL of a time
 */
export const settlesInMs = (begunAt: string): string =>
  `least(${SETTLED_AFTER_MS}, greatest(0, ceil(extract(epoch from ${begunAt} - clock_timestamp()) * 1000 + ${SETTLED_AFTER_MS})))::bigint`;
