import type { Input, Output } from "./index.ts";
import {
  keyBucketMinutes,
  spanOf,
  TIME_RANGES,
  USAGE_RANGES,
  type FailedRangeName,
  type Span,
  type UsageRangeName,
} from "./time-ranges.ts";

/**
 * What the pages of usage and of failed requests read: ranges that end now. The server reads them for the page that it sends, and the page's
 * script from then on. Keys name the range and no time, so that one query moves with the clock, and finds what another clock has read.
 */

type Read<Name extends "usage.get" | "requests.failed"> = (input: Input<Name>) => Promise<Output<Name>>;

export interface UsageOfRange {
  readonly name: UsageRangeName;
  readonly span: Span;
  /** When it was read, in milliseconds since the epoch. */
  readonly at: number;
  readonly buckets: Output<"usage.get">["buckets"];
  readonly keyBuckets: Output<"usage.get">["buckets"];
  readonly keys: Output<"usage.get">["keys"];
  readonly clients: Output<"usage.get">["clients"];
}

export interface FailedInRange extends Output<"requests.failed"> {
  readonly name: FailedRangeName;
  readonly span: Span;
}

export const usageKey = (brand_id: string, range: UsageRangeName) => ({ brand_id, range }) as const;

export async function readUsage(read: Read<"usage.get">, brand_id: string, name: UsageRangeName, now: number): Promise<UsageOfRange> {
  const range = USAGE_RANGES[name];
  const span = spanOf(range, now);
  const asked = { brand_id, ...timesOf(span) };
  const [all, byKey] = await Promise.all([
    read({ ...asked, bucket_minutes: range.bucketMinutes, by_key: false }),
    read({ ...asked, bucket_minutes: keyBucketMinutes(range), by_key: true }),
  ]);
  return { name, span, at: now, buckets: all.buckets, keyBuckets: byKey.buckets, keys: byKey.keys, clients: byKey.clients };
}

type Selected = Omit<Input<"requests.failed">, "from" | "to" | "bucket_minutes">;

export async function readFailedRequests(
  read: Read<"requests.failed">,
  selected: Selected,
  name: FailedRangeName,
  now: number,
): Promise<FailedInRange> {
  const range = TIME_RANGES[name];
  const span = spanOf(range, now);
  return { ...(await read({ ...selected, ...timesOf(span), bucket_minutes: range.bucketMinutes })), name, span };
}

const timesOf = ({ from, to }: Span) => ({ from: new Date(from).toISOString(), to: new Date(to).toISOString() });
