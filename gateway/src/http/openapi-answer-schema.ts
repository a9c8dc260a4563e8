/** A JSON Schema, or a part of one. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly [keyword: string]: unknown;
}

const INT32_MAX = 2 ** 31 - 1;

/** An integer with its size. Generated clients read one without a format as 32 bits, which end at PHP 21,474,836.47. */
export function integer(bounds: Pick<Schema, "minimum" | "maximum"> = {}): Schema {
  const { minimum = -Infinity, maximum = Infinity } = bounds;
  const fits32 = minimum >= -INT32_MAX && maximum <= INT32_MAX;
  return { type: "integer", format: fits32 ? "int32" : "int64", ...bounds };
}

/** A text of which a later version may add values: a closed enum in an answer stops the clients generated from it. */
export function openText(known: readonly string[], description?: string): Schema {
  const values = `Known values: ${known.join(", ")}. A later version may add values.`;
  return { type: "string", "x-extensible-enum": known, description: description === undefined ? values : `${description} ${values}` };
}

/**
 * Rewrites the schema of something that is returned for the clients that are generated from it: open to fields and values
 * that a later version adds, integers with their size, and null as a second type.
 */
export function answerSchema(schema: Schema): Schema {
  // The first three describe what is accepted.
  const { $schema: _dialect, additionalProperties: _closed, default: _default, enum: known, const: constant, anyOf, ...open } = schema;
  const { description, properties, items } = open;
  if (anyOf !== undefined) return { ...open, ...nullable(anyOf, description) };
  if (known !== undefined) return { ...open, ...openText(known, description) };
  if (constant !== undefined) return { ...open, ...openText([constant], description) };
  return {
    ...open,
    ...(open.type === "integer" && integer(open)),
    ...(items !== undefined && { items: answerSchema(items) }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, answerSchema(property)])),
    }),
  };
}

/** `anyOf` with null becomes a type of its own in many generated clients; `type: [integer, "null"]` does not. */
function nullable([value, ...others]: readonly Schema[], description: string | undefined): Schema {
  if (value === undefined || others.length !== 1 || others[0]?.type !== "null") throw new Error("a field is of one type, or null");
  const schema = answerSchema({ ...value, ...(description !== undefined && { description }) });
  return { ...schema, type: [String(schema.type), "null"] };
}
