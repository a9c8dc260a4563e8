import { CommandFailure, parsedJson, printable, UsageFailure } from "@brand-records/command-line";
import { newId } from "@brand-records/ids";
import { EVENT_TYPE_NAMES, EVENT_TYPES, type EventType } from "@brand-records/resources";
import type { Session } from "../session.ts";
import { openClient } from "../settings.ts";
import { originOf } from "./delivery-target.ts";
import { sampleEvent, type SampleEvent } from "./sample-event.ts";

export interface EventOptions {
  /** The file of an event. */
  readonly body: string | undefined;
  /** The id of a record whose event it is. */
  readonly record: string | undefined;
  readonly live?: boolean | undefined;
  readonly brand: string;
}

/** Returns the event of a file or of a record, else one of sample data. @throws UsageFailure if the options name none */
export async function eventToSend(session: Session, type: EventType | undefined, options: EventOptions): Promise<SampleEvent> {
  const { body, record, live = false, brand } = options;
  if (body !== undefined && record !== undefined) throw new UsageFailure("--body and --record each name an event", "Give one of them.");
  if (body !== undefined) return storedEvent(session, type, body);
  if (record !== undefined) return recordEvent(session, type, record, live);
  if (type !== undefined) return sampleEvent(type, { live, brand, origin: originOf(session.terminal.env) });
  throw new UsageFailure("The event's type is missing", `Give ${EVENT_TYPE_NAMES.join(", ")}, or a record: --record ID`);
}

async function storedEvent(session: Session, type: string | undefined, file: string): Promise<SampleEvent> {
  const body = await session.input.read(file, "--body");
  const event = parsedJson(body.toString("utf8")) as { readonly id?: unknown; readonly type?: unknown } | null | undefined;
  if (typeof event?.id !== "string" || typeof event.type !== "string") {
    throw new UsageFailure("--body has no event", "Give the body of a delivery, whole, as its page in the console shows it.");
  }
  if (type !== undefined && event.type !== type) {
    throw new UsageFailure(`--body has an event of the type ${printable(event.type)}, not ${type}`);
  }
  return { id: event.id, type: event.type, body };
}

/**
 * Returns the event by which the record came to its status, as the service builds it, with a new id. A record has no earlier status: that of
 * the event is the usual one.
 */
async function recordEvent(session: Session, type: EventType | undefined, recordId: string, live: boolean): Promise<SampleEvent> {
  const [prefix] = recordId.split("_", 1);
  const types = EVENT_TYPE_NAMES.filter((name) => EVENT_TYPES[name].example("").id.startsWith(`${prefix}_`));
  const [first] = types;
  if (first === undefined) {
    const hint = "It must be the id of a submission (sub_…), a payout (po_…) or a campaign (cmp_…).";
    throw new UsageFailure(`--record: there are no events of ${printable(recordId)}`, hint);
  }
  if (type !== undefined && !types.includes(type)) throw new UsageFailure(`${type} is no event of ${printable(recordId)}`);
  const { resource } = EVENT_TYPES[first];
  const { interrupted: signal, env } = session.terminal;
  const { data, meta } = await openClient(session).list(resource, { id: recordId }, { limit: 1, signal }).page();
  const [record] = data;
  if (record === undefined) throw new CommandFailure("no_record", `The key's brand has no ${printable(recordId)}.`);
  const found = types.find((name) => name.endsWith(`.${record.status}`));
  if (found === undefined || (type ?? found) !== found) {
    const hint = `There is an event of it when it becomes ${types.map((name) => name.split(".")[1]).join(" or ")}.`;
    throw new CommandFailure("no_event", `${recordId} is ${printable(record.status)}: there is no ${type ?? "event"} for that.`, { hint });
  }
  const id = newId("evt");
  // A campaign's campaign_id is its own id.
  const values: Readonly<Record<string, unknown>> = { campaign_id: recordId, ...record };
  const example = Object.entries(EVENT_TYPES[found].example(record.updated_at));
  const event = {
    id,
    type: found,
    created_at: record.updated_at,
    brand_id: meta.brandId,
    test: !live,
    dashboard_url: `${originOf(env)}/developers/events/${id}`,
    data: Object.fromEntries(example.map(([name, value]) => [name, Object.hasOwn(values, name) ? values[name] : value])),
  };
  return { id, type: found, body: Buffer.from(JSON.stringify(event)) };
}
