import { z } from "zod";
import { EVENT_TYPE_NAMES, EVENT_TYPES, type EventType } from "./event-types.ts";
import { id, time } from "./fields.ts";

/** Contract. Our events have some 600 bytes. */
export const EVENT_MESSAGE_BYTES_MAX = 20 * 1024;

type DataSchema = (typeof EVENT_TYPES)[EventType]["data"];

const dataSchemas = [...new Set(Object.values(EVENT_TYPES).map(({ data }) => data))] as [DataSchema, ...DataSchema[]];
const resources = dataSchemas.map(({ shape }) => shape.resource.value).join(", ");
const data = z.discriminatedUnion("resource", dataSchemas, {
  error: ({ code }) => (code === "invalid_union" ? `must be one of ${resources}` : undefined),
});

/** The rule of the `superRefine` below, for readers who validate with the JSON Schema: one of these must match. */
const typeFitsData = EVENT_TYPE_NAMES.map((type) => {
  const status = type.slice(type.indexOf(".") + 1);
  const data = { type: "object", properties: { resource: { const: EVENT_TYPES[type].resource }, status: { const: status } } };
  return { properties: { type: { const: type }, data } };
});

/** The JSON value of a message in the log, `brand.events`. Its key is the record's id; a header carries `traceparent`. */
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

/** Our events nest one level deep. From some thousands of levels on, JSON.stringify and Postgres fail, at every attempt. */
const DEPTH_MAX = 32;

/** The message is not an event. The error's message says why in one line, and contains none of the message's values. */
export class UnreadableMessage extends Error {
  override readonly name = "UnreadableMessage";
}

export interface ReadMessage {
  readonly event: EventMessage;
  /** `data` as receivers get it: as the writer wrote it, with nothing added. */
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
    const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "the message"} ${message}`);
    throw new UnreadableMessage(problems.slice(0, 5).join("; "));
  }
  // From the message, not from zod, which drops a field named __proto__.
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
