import { OPERATIONS } from "../../operations/index.ts";
import { type JsonSchema, mapProperties, type ObjectSchema } from "../../operations/json-schema.ts";
import type { Operation } from "../../operations/operation.ts";
import { invalidParams } from "./json-rpc.ts";

/** The operations as assistants find and see them. */
export type Toolbox = ReturnType<typeof createToolbox>;

/** @param operations in the order in which assistants see them */
export function createToolbox(operations: readonly Operation[]) {
  const byName: ReadonlyMap<string, Operation> = new Map(operations.map((operation) => [operation.name, operation]));
  /** Prepared once for each set of permissions that makes a difference. */
  const listings = new Map<string, string>();
  const visibleTo = (permissions: readonly string[]): readonly Operation[] =>
    operations.filter(({ permission }) => permission === undefined || permissions.includes(permission));
  const namesOf = (visible: readonly Operation[]): string => visible.map(({ name }) => name).join(", ");
  return {
    /**
     * Finds a tool whether it is listed for these permissions or not: the call reports the missing permission.
     *
     * @throws RpcError if the tool does not exist; its message names the listed ones
     */
    named(name: string, permissions: readonly string[]): Operation {
      const operation = byName.get(name);
      if (operation !== undefined) return operation;
      throw invalidParams(`There is no such tool. The tools are ${namesOf(visibleTo(permissions))}.`);
    },
    /**
     * The tools that a key with these permissions sees, as JSON text of an array: the same bytes each time, so that clients
     * and models can cache them.
     */
    listingFor(permissions: readonly string[]): string {
      const visible = visibleTo(permissions);
      const id = namesOf(visible);
      const listing = listings.get(id) ?? JSON.stringify(visible.map(toolListing));
      listings.set(id, listing);
      return listing;
    },
  };
}

export const TOOLBOX = createToolbox(OPERATIONS);

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
function toolListing({ name, title, guide, method, input, output, untrusted }: Operation): ToolListing {
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
