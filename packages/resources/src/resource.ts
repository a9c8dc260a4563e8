import { z } from "zod";

/** The filters that lists may have, in the order in which they are described. */
export const FILTER_NAMES = [
  "id",
  "campaign_id",
  "link_id",
  "creator_id",
  "external_id",
  "status",
  "created_from",
  "created_before",
] as const;
export type FilterName = (typeof FILTER_NAMES)[number];

/** A kind of records: its name in paths, and the fields of its records. */
export interface Resource<Name extends string = string, Shape extends z.ZodObject = z.ZodObject> {
  readonly name: Name;
  /** The name of one record, for headings and schemas: "Campaign". */
  readonly title: string;
  /** What a record is, for readers of the API description and models. */
  readonly description: string;
  /** The list operation in one sentence. */
  readonly summary: string;
  /** Tells models what the records hold, and when to read this list rather than another. */
  readonly guide: string;
  /** What people ask of these records and the records do not say. */
  readonly unrecorded: string;
  /** Validates imports strictly, and describes the records that the API returns. */
  readonly schema: Shape;
  /** Tells models what values of fields mean, above all null. */
  readonly values: string;
  /** The fields that questions need most. */
  readonly typicalFields: readonly (keyof z.output<Shape>)[];
  /** What a record costs a model, whole and with its id and typical fields: tokens of o200k, as toolbox.test.ts measures them. */
  readonly tokens: { readonly whole: number; readonly typical: number };
  /** The filters of its list. Those named like a field compare that field. */
  readonly filters: readonly FilterName[];
  /** One record for the API description. */
  readonly example: z.output<Shape>;
}

export function defineResource<const Name extends string, Shape extends z.ZodObject>(
  resource: Resource<Name, Shape>,
): Resource<Name, Shape> {
  return Object.freeze(resource);
}

/** Returns the names of a resource's fields, in the order in which records have them. */
export const fieldNames = ({ schema }: Resource): string[] => Object.keys(schema.shape);

/** Returns a record in which every field is empty. A message has these values in the fields that were not asked for. */
export const emptyRecord = ({ schema }: Resource): object =>
  Object.fromEntries(Object.entries(schema.shape).map(([name, field]) => [name, emptyValue(field as z.ZodType)]));

function emptyValue(field: z.ZodType): unknown {
  if (field instanceof z.ZodDefault) return null;
  if (field instanceof z.ZodArray) return [];
  return field instanceof z.ZodNumber ? 0 : "";
}

/** Returns the names of the fields that are numbers, and of those that are times. */
export function fieldsByKind({ schema }: Resource): { readonly numbers: readonly string[]; readonly times: readonly string[] } {
  const fields = Object.entries(schema.shape).map(([name, field]) => ({ name, schema: requiredSchema(field as z.ZodType) }));
  const namesOf = (matches: (field: z.ZodType) => boolean): string[] =>
    fields.filter((field) => matches(field.schema)).map(({ name }) => name);
  return {
    numbers: namesOf((field) => field instanceof z.ZodNumber),
    times: namesOf((field) => field.meta()?.["format"] === "date-time"),
  };
}

/** Returns the names of the fields that hold texts and URLs which outsiders wrote: those with a length bound. Ids, times and values of a list have none. */
export function freeTexts({ schema }: Resource): readonly string[] {
  const isFreeText = (field: z.ZodType): boolean => {
    const inner = requiredSchema(field);
    if (inner instanceof z.ZodArray) return isFreeText(inner.element as z.ZodType);
    return (inner instanceof z.ZodString || inner instanceof z.ZodURL) && inner.maxLength !== null;
  };
  return Object.entries(schema.shape).flatMap(([name, field]) => (isFreeText(field as z.ZodType) ? [name] : []));
}

/** Returns the schema of a field without its default and null. */
export function requiredSchema(field: z.ZodType): z.ZodType {
  return field instanceof z.ZodDefault || field instanceof z.ZodNullable ? requiredSchema(field.unwrap() as z.ZodType) : field;
}
