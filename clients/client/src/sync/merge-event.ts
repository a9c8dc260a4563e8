import type { BrandEvent, RecordOf, ResourceName } from "../generated/api.ts";
import type { UnknownEvent } from "../webhooks/events.ts";

/** Clocks may differ by as much. */
const CLOCK_MARGIN_MS = 5 * 60_000;

/** A record of the copy, and when the service listed it (RFC 3339). */
export interface ListedRecord {
  readonly record: RecordOf[ResourceName];
  readonly listedAt: string;
}

export type Merged =
  | { readonly isChanged: true; readonly record: RecordOf[ResourceName] }
  | { readonly isChanged: false; readonly reason: "test" | "no_updated_at" | "not_newer" | "before_listing" };

/**
 * Merges a verified event into the record that it reports, by the rules of docs/syncing.md. Insert nothing for a record that the copy
 * lacks: an event has half of it.
 */
export function mergeEvent({ record, listedAt }: ListedRecord, event: BrandEvent | UnknownEvent): Merged {
  const { updated_at } = event.data;
  if (event.test) return { isChanged: false, reason: "test" };
  if (typeof updated_at !== "string") return { isChanged: false, reason: "no_updated_at" };
  if (updated_at <= record.updated_at) return { isChanged: false, reason: "not_newer" };
  // An import may have set the record back since.
  if (!(Date.parse(event.created_at) >= Date.parse(listedAt) - CLOCK_MARGIN_MS)) return { isChanged: false, reason: "before_listing" };
  // An event has fields that are none of the record's, such as previous_status.
  const fields = Object.entries(event.data).filter(([name]) => Object.hasOwn(record, name));
  return { isChanged: true, record: { ...record, ...Object.fromEntries(fields) } };
}
