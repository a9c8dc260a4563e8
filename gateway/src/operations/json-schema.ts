/** A JSON Schema, or a part of one. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly [keyword: string]: unknown;
}

export interface ObjectSchema extends JsonSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, JsonSchema>>;
}

const INT32_MAX = 2 ** 31 - 1;

/** An integer with its size. Generated clients read one without a format as 32 bits, which end at PHP 21,474,836.47. */
export function integer(bounds: Pick<JsonSchema, "minimum" | "maximum"> = {}): JsonSchema {
  const { minimum = -Infinity, maximum = Infinity } = bounds;
  const fits32 = minimum >= -INT32_MAX && maximum <= INT32_MAX;
  return { type: "integer", format: fits32 ? "int32" : "int64", ...bounds };
}

export function mapProperties(
  { properties }: ObjectSchema,
  map: (property: JsonSchema, name: string) => JsonSchema,
): ObjectSchema["properties"] {
  return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, map(property, name)]));
}
