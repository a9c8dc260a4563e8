import { z } from "zod";
import { EVENT_TYPE_NAMES, EVENT_TYPES, type EventType } from "./event-types.ts";
import { id, time } from "./fields.ts";

/** Promised to receivers. Our events have about 600 bytes. */
export const EVENT_MESSAGE_BYTES_MAX = 20 * 1024;

type DataSchema = (typeof EVENT_TYPES)[EventType]["data"];

const dataSchemas = [...new Set(Object.values(EVENT_TYPES).map(({ data }) => data))] as [DataSchema, ...DataSchema[]];
const resources = dataSchemas.map(({ shape }) => shape.resource.value).join(", ");
const data = z.discriminatedUnion("resource", dataSchemas, {
  error: ({ code }) => (code === "invalid_union" ? `must be one of ${resources}` : undefined),
});

/** The rule of the `superRefine` below, as JSON Schema for readers of the topic: a message must match one of these. */
const typeFitsData = EVENT_TYPE_NAMES.map((type) => {
  const status = type.slice(type.indexOf(".") + 1);
  const data = { type: "object", properties: { resource: { const: EVENT_TYPES[type].resource }, status: { const: status } } };
  return { properties: { type: { const: type }, data } };
});

/** The JSON value of a message in the event log, `brand.events`. The message's key is the record's id; a header carries `traceparent`. */
export const eventMessageSchema = z
  .looseObject({
    id: id("evt", "The event's id: the same for every copy of the event."),
    type: z.enum(EVENT_TYPE_NAMES, `must be one of ${EVENT_TYPE_NAMES.join(", ")}`).describe("What happened."),
    created_at: time("When it happened."),
    brand_id: id("brd", "Whose record it is."),
    data: data.describe("The record right after the event."),
  })
  .superRefine(({ type, data }, context) => {
    const problem = (path: string, message: string): void =>
      context.addIssue({ code: "custom", path: ["data", path], message, input: data });
    const { resource } = EVENT_TYPES[type];
    if (resource !== data.resource) problem("resource", `must be ${resource} for ${type}`);
    else if (!type.endsWith(`.${data.status}`)) problem("status", `does not fit ${type}`);
  })
  .meta({ anyOf: typeFitsData });

export type EventMessage = z.output<typeof eventMessageSchema>;

/** Our events nest one level deep. JSON.stringify and Postgres fail at some thousands of levels, and would fail at every retry. */
const DEPTH_MAX = 32;

/** A message of the event log is not an event. `error.message` gives the reason in one line, without any value from the log's message. */
export class UnreadableMessage extends Error {
  override readonly name = "UnreadableMessage";
}

interface ReadMessage {
  readonly event: EventMessage;
  /** `data` as receivers get it: every field that the writer wrote, and no other. */
  readonly dataJson: string;
}

/** @throws UnreadableMessage */
export function readEventMessage(value: Buffer): ReadMessage {
  if (value.length > EVENT_MESSAGE_BYTES_MAX) {
    throw new UnreadableMessage(`too large: ${value.length} bytes, at most ${EVENT_MESSAGE_BYTES_MAX}`);
  }
  const message = parse(value);
  requireStorable(message);
  const parsed = eventMessageSchema.safeParse(message);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join(".") || "the message"} ${issue.message}`);
    throw new UnreadableMessage(problems.slice(0, 5).join("; "));
  }
  // Reads the parsed JSON, not the output of zod, which drops a field named __proto__.
  return { event: parsed.data, dataJson: JSON.stringify((message as { data: unknown }).data) };
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

function parse(value: Buffer): unknown {
  let text: string;
  try {
    text = UTF8.decode(value);
  } catch {
    throw new UnreadableMessage("not UTF-8");
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new UnreadableMessage("not JSON");
  }
}

/** Refuses valid JSON that Postgres cannot store, or that JSON.stringify would change. */
function requireStorable(value: unknown, depth = 0): void {
  if (depth > DEPTH_MAX) throw new UnreadableMessage(`nests deeper than ${DEPTH_MAX}`);
  if (typeof value === "string") {
    if (value.includes("\0")) throw new UnreadableMessage("contains a NUL");
    if (!value.isWellFormed()) throw new UnreadableMessage("contains half a surrogate pair");
  } else if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new UnreadableMessage("contains a number out of range");
  } else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      requireStorable(key, depth);
      requireStorable(item, depth + 1);
    }
  }
}

/**
 * Returns the JSON Schema of a message in the log, for readers in other languages; published as docs/schemas/brand-event.schema.json.
 * Allows unknown fields: a later release may add some.
 */
export function eventJsonSchema(): object {
  const { $schema, ...schema } = z.toJSONSchema(eventMessageSchema, { io: "input" });
  const description = "The value of a message on the topic brand.events. docs/platform.md describes its key and headers.";
  return { $schema, title: "Brand event", description, ...schema };
}

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
