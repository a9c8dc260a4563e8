export interface BodyParts {
  readonly event_id: string;
  readonly type: string;
  readonly event_created_at: string;
  readonly brand_id: string;
  readonly test: boolean;
  /** JSON, unchanged from the event. */
  readonly data: string;
}

/** Returns the body of a delivery: the same bytes for every attempt and replay. */
export function eventBody({ event_id, type, event_created_at, brand_id, test, data }: BodyParts, publicUrl: string): Buffer {
  const envelope = {
    id: event_id,
    type,
    created_at: event_created_at,
    brand_id,
    test,
    dashboard_url: `${publicUrl}/developers/events/${event_id}`,
  };
  // The data is inserted as it is, without parsing it and writing it again.
  return Buffer.from(`${JSON.stringify(envelope).slice(0, -1)},"data":${data}}`);
}
