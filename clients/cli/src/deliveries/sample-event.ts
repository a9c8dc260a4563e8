import { EVENT_MESSAGE_BYTES_MAX, sampleData, type EventType } from "@brand-records/resources";
import { newId } from "@brand-records/ids";

export { EVENT_TYPE_NAMES, isEventType, type EventType } from "@brand-records/resources";

/** The body of a delivery, as the service sends it. */
export interface SampleEvent {
  readonly id: string;
  readonly type: string;
  readonly body: Buffer;
}

export interface SampleOptions {
  /** Events that are not tests make the receiver act. */
  readonly live: boolean;
  readonly brand: string;
  /** Origin of `dashboard_url`. */
  readonly origin: string;
}

/** Returns an event of sample data, with a new id. Its records do not exist. */
export function sampleEvent(type: EventType, { live, brand, origin }: SampleOptions): SampleEvent {
  const id = newId("evt");
  const now = new Date().toISOString();
  const dashboard_url = `${origin}/developers/events/${id}`;
  const event = { id, type, created_at: now, brand_id: brand, test: !live, dashboard_url, data: sampleData(type, now) };
  return { id, type, body: Buffer.from(JSON.stringify(event)) };
}

/** Returns the event with its text changed, by which it stays JSON. */
export function edited(event: SampleEvent, change: (text: string) => string): SampleEvent {
  return { ...event, body: Buffer.from(change(event.body.toString("utf8"))) };
}

/** Returns the event with a field that no version has, with which it has the most bytes that an event may have. */
export function largestEvent(event: SampleEvent): SampleEvent {
  const withField = (text: string): SampleEvent => edited(event, (body) => body.replace('"data":{', `"data":{"padding":"${text}",`));
  return withField("x".repeat(EVENT_MESSAGE_BYTES_MAX - withField("").body.length));
}
