import type { EventMessage } from "./event-message.ts";
import { EVENT_TYPE_NAMES, EVENT_TYPES, type EventType } from "./event-types.ts";

/**
 * Returns the data of a test delivery, as an event of this type has it. Its ids belong to no record: looking one up finds
 * nothing.
 *
 * @param now RFC 3339
 */
export function sampleData(type: EventType, now: string): EventMessage["data"] {
  const data = EVENT_TYPES[type].example(now);
  const [prefix] = data.id.split("_", 1);
  return { ...data, id: `${prefix}_test`, campaign_id: "cmp_test" };
}

/** The ids of records in sample data, of every type. */
export const SAMPLE_RECORD_IDS = [...new Set(EVENT_TYPE_NAMES.map((type) => sampleData(type, "2026-01-01T00:00:00.000Z").id))];
