import { EVENT_TYPES, type EventMessage, type EventType } from "@brand-records/brand-events";

const id = "evt_01m7e9rkgsf6p8ke7n67az5qq0";

/** The event as a receiver gets it. docs/webhooks.md shows the same. */
export function eventExample(type: EventType): EventMessage & { readonly test: boolean; readonly dashboard_url: string } {
  return {
    id,
    type,
    created_at: "2026-11-21T02:15:09.420Z",
    brand_id: "brd_01k1sem520ecxthczqg3ryfxme",
    test: false,
    dashboard_url: `https://records.example/developers/events/${id}`,
    data: EVENT_TYPES[type].example("2026-11-21T02:15:09.412Z"),
  };
}
