import { RESOURCES, type ResourceName } from "@brand-records/resources";
import { z } from "zod";

type Json = Record<string, unknown>;

/**
 * What a list tool answers, for clients that check or generate code. It has types and the values of a status, not the
 * bounds that importing enforces: every byte of it is paid for by each assistant that connects. Open to fields and
 * status values that a later version adds.
 */
export function pageSchema(resource: ResourceName): Json {
  return {
    type: "object",
    required: ["resource", "count", "data"],
    properties: {
      resource: { type: "string" },
      count: { type: "integer" },
      data: { type: "array", items: recordSchema(RESOURCES[resource].schema) },
      next_cursor: { type: "string", description: "Absent on the last page." },
    },
  };
}

/** In the server's instructions, instead of in every record. */
const TOLD_ONCE = new Set(["id", "created_at", "updated_at", "creator_id", "currency"]);

function recordSchema(schema: z.ZodObject): Json {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: "output" });
  const fields = Object.entries(properties).map(([name, property]) => {
    const field = fieldSchema(property as Json);
    if (TOLD_ONCE.has(name)) delete field["description"];
    return [name, field] as const;
  });
  return { type: "object", required, properties: Object.fromEntries(fields) };
}

function fieldSchema(property: Json): Json {
  const { type, enum: words, items, anyOf, description } = property as { description?: string; enum?: string[]; anyOf?: Json[] } & Json;
  const told = (more?: string) => {
    const sentences = [description, more].filter((sentence) => sentence !== undefined);
    return sentences.length === 0 ? {} : { description: sentences.join(" ") };
  };
  const [inner, ...others] = anyOf ?? [];
  if (others.some(({ type: other }) => other !== "null")) throw new Error("a record's field is of one type, or null");
  // Without a type: several clients refuse a schema whose type is a union with null.
  if (inner !== undefined) return told(`${capitalised(typeOf(inner))}, or null.`);
  if (words !== undefined) return { type: "string", ...told(`One of ${words.join(", ")}.`) };
  return { type, ...(items !== undefined && { items: { type: (items as Json)["type"] } }), ...told() };
}

function typeOf({ type, enum: words }: { enum?: string[] } & Json): string {
  return words === undefined ? String(type) : `one of ${words.join(", ")}`;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
