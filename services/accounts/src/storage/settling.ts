import { SETTLED_AFTER_SECONDS } from "../domain/brand.ts";

/** SQL of the milliseconds until whatever began before `begunAt` has ended; 0 when it has. @param begunAt SQL of a time */
export const settlesInMs = (begunAt: string): string =>
  `greatest(0, ceil(extract(epoch from ${begunAt} - clock_timestamp()) * 1000 + ${SETTLED_AFTER_SECONDS * 1_000}))::bigint`;
