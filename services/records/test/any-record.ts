import { RESOURCE_NAMES, RESOURCES, type ResourceName } from "@brand-records/resources";
import fc, { type Arbitrary } from "fast-check";
import { z } from "zod";

/** The JSON Schema of a field that is not null. */
export type FieldSchema = z.core.JSONSchema.BaseSchema;

export interface Field {
  readonly schema: FieldSchema;
  readonly isNullable: boolean;
}

/** The fields of a resource by name, as packages/resources declares them. */
export function fieldsOf(resource: ResourceName): ReadonlyMap<string, Field> {
  const { properties = {} } = z.toJSONSchema(RESOURCES[resource].schema);
  return new Map(
    Object.entries(properties as Record<string, FieldSchema>).map(([name, { anyOf, ...schema }]) => [
      name,
      anyOf === undefined ? { schema, isNullable: false } : { schema: anyOf[0] as FieldSchema, isNullable: true },
    ]),
  );
}

/** Text with a meaning in COPY, array literals or JSON. */
const SPECIAL_TEXT = ["\\N", "\\.", "NULL", ..."\t\n\r\\\"'{},\b\v\f\u0001\u007f\u2028 "];

const text = (max: number): Arbitrary<string> =>
  fc
    .oneof(
      fc.string({ unit: fc.constantFrom(...SPECIAL_TEXT, "a", "é", "ぁ", "🙂"), minLength: 1, maxLength: 12 }),
      fc.string({ unit: "binary", minLength: 1, maxLength: 30 }),
    )
    .filter((value) => value.length <= max && !value.includes("\0"));

const time = (): Arbitrary<string> =>
  fc
    .date({ min: new Date("2000-01-01T00:00:00.000Z"), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true })
    .map((date) => date.toISOString());

function anyValue(schema: FieldSchema): Arbitrary<unknown> {
  const { minimum: min = 0, maximum: max = 0, maxLength = 0, maxItems = 0 } = schema;
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.type === "array") return fc.array(anyValue(schema.items as FieldSchema), { maxLength: maxItems });
  if (schema.type === "integer") return fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, 1, max));
  if (schema.pattern !== undefined) return fc.stringMatching(new RegExp(schema.pattern));
  if (schema.format === "date-time") return time();
  if (schema.format === "uri") return fc.webUrl({ withQueryParameters: true, withFragments: true, validSchemes: ["http", "https"] });
  return text(maxLength);
}

function anyRecordOf(resource: ResourceName): Arbitrary<{ readonly id: string }> {
  const fields = [...fieldsOf(resource)].map(([name, { schema, isNullable }]) => [
    name,
    isNullable ? fc.option(anyValue(schema), { nil: null }) : anyValue(schema),
  ]);
  return fc.record(Object.fromEntries(fields)) as unknown as Arbitrary<{ readonly id: string }>;
}

/** Any record that a resource accepts. */
export const anyRecord = Object.fromEntries(RESOURCE_NAMES.map((resource) => [resource, anyRecordOf(resource)])) as Record<
  ResourceName,
  Arbitrary<{ readonly id: string }>
>;

/** Returns one valid record of a resource, the same each time. */
export function sampleRecord(resource: ResourceName): Readonly<Record<string, unknown>> {
  const [record] = fc.sample(anyRecord[resource], { numRuns: 1, seed: 1 });
  return { ...record };
}
