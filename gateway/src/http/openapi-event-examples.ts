import { EVENT_TYPES, type EventMessage, type EventType } from "@brand-records/brand-events";

const id = "01m7e9rkgsf6p8ke7n67az5qq0";

/** What a receiver gets, as docs/webhooks.md shows it too. */
export function eventExample(type: EventType): EventMessage & { readonly test: boolean; readonly dashboard_url: string } {
  return {
    id: `evt_${id}`,
    type,
    created_at: "2026-11-21T02:15:09.420Z",
    brand_id: "brd_01k1sem520ecxthczqg3ryfxme",
    test: false,
    dashboard_url: `https://records.example/developers/events/evt_${id}`,
    data: EVENT_TYPES[type].example("2026-11-21T02:15:09.412Z"),
  };
}
