import type { Input, Output } from "./index.ts";
import { keyBucketMinutes, spanOf, timesOf, TIME_RANGES, USAGE_RANGES, type FailedRangeName, type UsageRangeName } from "./time-ranges.ts";

/**
 * What the pages of usage and of failed requests read: ranges that end now. The server reads them for the page that it sends, and the page's
 * script from then on. Keys name the range and no time, so that one query moves with the clock, and finds what another clock has read.
 */

type Read<Name extends "usage.get" | "requests.failed"> = (input: Input<Name>) => Promise<Output<Name>>;

export type UsageOfRange = Awaited<ReturnType<typeof readUsage>>;
export type FailedInRange = Awaited<ReturnType<typeof readFailedRequests>>;

export const usageKey = (brand_id: string, range: UsageRangeName) => ({ brand_id, range }) as const;

/** @param now in milliseconds since the epoch */
export async function readUsage(read: Read<"usage.get">, brand_id: string, name: UsageRangeName, now: number) {
  const range = USAGE_RANGES[name];
  const span = spanOf(range, now);
  const asked = { brand_id, ...timesOf(span) };
  const [{ buckets }, { buckets: keyBuckets, keys, clients }] = await Promise.all([
    read({ ...asked, bucket_minutes: range.bucketMinutes, by_key: false }),
    read({ ...asked, bucket_minutes: keyBucketMinutes(range), by_key: true }),
  ]);
  return { name, span, at: now, buckets, keyBuckets, keys, clients };
}

type Selected = Omit<Input<"requests.failed">, "from" | "to" | "bucket_minutes">;

export async function readFailedRequests(read: Read<"requests.failed">, selected: Selected, name: FailedRangeName, now: number) {
  const range = TIME_RANGES[name];
  const span = spanOf(range, now);
  return { ...(await read({ ...selected, ...timesOf(span), bucket_minutes: range.bucketMinutes })), name, span };
}
