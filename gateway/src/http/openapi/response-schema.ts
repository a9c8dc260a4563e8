import { integer, type JsonSchema } from "../../operations/json-schema.ts";

/** Text to which a later version may add values: generated clients fail on values outside a closed enum. */
export function openText(known: readonly string[], description?: string): JsonSchema {
  const values = `Known values: ${known.join(", ")}. A later version may add values.`;
  return { type: "string", "x-extensible-enum": known, description: description === undefined ? values : `${description} ${values}` };
}

/**
 * Rewrites the schema of returned data for generated clients: open to fields and values that a later version adds, integers with
 * their size, and null as a second type.
 */
export function responseSchema(schema: JsonSchema): JsonSchema {
  // The first three describe accepted input.
  const { $schema: _dialect, additionalProperties: _closed, default: _default, enum: known, const: constant, anyOf, ...rest } = schema;
  const { pattern, format, ...others } = rest;
  const open = {
    ...others,
    // Clients hold what they parsed, a time, to a pattern beside it, and a URL to RFC 3986, of which browsers accept more: they fail.
    ...(format !== undefined && format !== "uri" && { format }),
    ...(pattern !== undefined && format !== "date-time" && { pattern }),
  };
  const { description, properties, items } = open;
  if (anyOf !== undefined) return { ...open, ...nullable(anyOf, description) };
  if (known !== undefined) return { ...open, ...openText(known, description) };
  if (constant !== undefined) return { ...open, ...openText([constant], description) };
  return {
    ...open,
    ...(open.type === "integer" && integer(open)),
    ...(items !== undefined && { items: elementSchema(items) }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, responseSchema(property)])),
    }),
  };
}

/** Postgres holds all elements of a list together to a length, not each. */
function elementSchema(schema: JsonSchema): JsonSchema {
  const { maxLength: _each, ...element } = responseSchema(schema);
  return element;
}

/** Many generators make a new type of `anyOf` with null, but not of `type: [integer, "null"]`. */
function nullable([value, ...others]: readonly JsonSchema[], description: string | undefined): JsonSchema {
  if (value === undefined || others.length !== 1 || others[0]?.type !== "null") throw new Error("a field must have one type, or null");
  const schema = responseSchema({ ...value, ...(description !== undefined && { description }) });
  return { ...schema, type: [String(schema.type), "null"] };
}
