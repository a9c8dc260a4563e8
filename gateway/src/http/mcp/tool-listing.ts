import { mapProperties, type JsonSchema, type ObjectSchema } from "../../operations/json-schema.ts";
import type { Operation } from "../../operations/operation.ts";

/** @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool */
export interface ToolListing {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
  readonly _meta: { readonly [UNTRUSTED]: readonly string[] };
}

/** Names the fields of the result, or of its records, that outsiders wrote: clients may mark or filter what a model may not trust. */
const UNTRUSTED = "brand-records/untrustedFields";

/** An operation as `tools/list` shows it. */
export function toolListing({ name, title, guide, method, input, output, untrusted }: Operation): ToolListing {
  return {
    name,
    title,
    description: guide,
    inputSchema: { ...input.schema, properties: mapProperties(input.schema, withoutPattern) },
    outputSchema: { ...compactSchema(output.schema), ...(output.schema.required !== undefined && { required: output.schema.required }) },
    annotations: { readOnlyHint: method === "GET", destructiveHint: false, idempotentHint: true, openWorldHint: false },
    _meta: { [UNTRUSTED]: untrusted },
  };
}

/** Some clients of assistants refuse formats and patterns. */
function withoutPattern({ format: _format, pattern: _pattern, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

/** The name says it, or the server's instructions say it once. */
const SELF_EXPLANATORY = new Set(["id", "created_at", "updated_at", "creator_id", "currency"]);

/**
 * Types, descriptions and the values of a status, without the bounds that importing enforces: each assistant that connects
 * pays for every byte. Records have every field, so that is not listed again. Open to fields and status values that a later version adds.
 */
function compactSchema(schema: ObjectSchema): ObjectSchema {
  const properties = mapProperties(schema, (property, name) => {
    const { description, ...bare } = compactProperty(property);
    return description === undefined || SELF_EXPLANATORY.has(name) ? bare : { ...bare, description };
  });
  return { type: "object", properties };
}

function compactProperty({ type, enum: values, items, anyOf, description }: JsonSchema): JsonSchema {
  const described = (...more: string[]): JsonSchema => {
    const sentences = [...(description === undefined ? [] : [description]), ...more];
    return sentences.length === 0 ? {} : { description: sentences.join(" ") };
  };
  const [inner, ...others] = anyOf ?? [];
  if (others.some((other) => other.type !== "null")) throw new Error("a field must have one type, or null");
  // A type would be a union with null, for which several clients refuse the schema.
  if (inner !== undefined) return described(`${capitalised(typeOf(inner))}, or null.`);
  if (values !== undefined) return { type: "string", ...described(`One of ${values.join(", ")}.`) };
  return { ...(type !== undefined && { type }), ...(items !== undefined && { items: compactItems(items) }), ...described() };
}

function compactItems(items: JsonSchema): JsonSchema {
  if (items.properties !== undefined) return compactSchema(items as ObjectSchema);
  return items.type === undefined ? {} : { type: items.type };
}

function typeOf({ type, enum: values }: JsonSchema): string {
  return values === undefined ? String(type) : `one of ${values.join(", ")}`;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
