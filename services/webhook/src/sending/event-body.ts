export interface BodyParts {
  readonly event_id: string;
  readonly type: string;
  readonly event_created_at: string;
  readonly brand_id: string;
  readonly test: boolean;
  /** JSON, as it came with the event. */
  readonly data: string;
}

/** What a receiver gets: the same bytes with every attempt and replay. */
export function eventBody({ event_id, type, event_created_at, brand_id, test, data }: BodyParts, publicUrl: string): Buffer {
  const about = {
    id: event_id,
    type,
    created_at: event_created_at,
    brand_id,
    test,
    dashboard_url: `${publicUrl}/developers/events/${event_id}`,
  };
  // What was written once is not parsed to be written again.
  return Buffer.from(`${JSON.stringify(about).slice(0, -1)},"data":${data}}`);
}
