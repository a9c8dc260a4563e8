import { EVENT_TYPE_NAMES, EVENT_TYPES, eventMessageSchema, type EventMessage, type EventType } from "@brand-records/resources";
import { z } from "zod";
import type { JsonSchema, ObjectSchema } from "../../operations/json-schema.ts";
import { responseSchema } from "./response-schema.ts";

interface MessageSchema extends ObjectSchema {
  /** The schemas of `data`, one for each resource. */
  readonly $defs: Readonly<Record<string, ObjectSchema>>;
}

/** `payout.paid` becomes `PayoutPaidEvent`. */
export const eventSchemaName = (type: EventType): string =>
  `${type.replaceAll(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`;

const MESSAGE = z.toJSONSchema(eventMessageSchema, { io: "input" }) as unknown as MessageSchema;

/** A constant distinguishes the events of one type from those of the others. */
const constant = (value: string): JsonSchema => ({ type: "string", const: value });

/** The body of each event, as receivers get it, by the name of its component: generators lose nullable fields of inline schemas. */
export const eventSchemas = (): Record<string, object> =>
  Object.fromEntries(EVENT_TYPE_NAMES.map((type) => [eventSchemaName(type), eventSchema(type)]));

function eventSchema(type: EventType): object {
  const { id, created_at, brand_id } = MESSAGE.properties;
  const described = {
    id,
    type: constant(type),
    created_at: responseSchema(created_at ?? {}),
    brand_id,
    test: { type: "boolean", description: "True for a test delivery: `data` is sample data, of records that do not exist." },
    dashboard_url: { type: "string", description: "The event's page in the Developers area." },
    data: dataSchema(type),
  };
  return {
    type: "object",
    description: `\`${type}\`. Fields may be added: ignore those you do not know.`,
    required: Object.keys(described),
    properties: described,
  };
}

/** The schema of the resource's `data`, with the status of this type, in the order of the serialised event. */
function dataSchema(type: EventType): object {
  const { resource } = EVENT_TYPES[type];
  const ofResource = Object.values(MESSAGE.$defs).find(({ properties }) => properties["resource"]?.const === resource);
  if (ofResource === undefined) throw new Error(`no schema describes the data of ${type}`);
  const { description: _, properties = {}, ...schema } = responseSchema(ofResource);
  const names = new Set([...Object.keys(eventExample(type).data), ...Object.keys(properties)]);
  const ordered = Object.fromEntries([...names].map((name) => [name, properties[name]]));
  return {
    ...schema,
    description: "The record right after the change.",
    properties: { ...ordered, resource: constant(resource), status: constant(type.slice(type.indexOf(".") + 1)) },
  };
}

const EXAMPLE_ID = "evt_01m7e9rkgsf6p8ke7n67az5qq0";

/** The event as a receiver gets it. docs/webhooks.md shows the same. */
export function eventExample(type: EventType): EventMessage & { readonly test: boolean; readonly dashboard_url: string } {
  return {
    id: EXAMPLE_ID,
    type,
    created_at: "2026-11-21T02:15:09.420Z",
    brand_id: "brd_01k1sem520ecxthczqg3ryfxme",
    test: false,
    dashboard_url: `https://records.example/developers/events/${EXAMPLE_ID}`,
    data: EVENT_TYPES[type].example("2026-11-21T02:15:09.412Z"),
  };
}
