import { z } from "zod";

/** One of the six kinds of records: its name in paths, and what its records hold. */
export interface Resource<Name extends string = string, Shape extends z.ZodObject = z.ZodObject> {
  readonly name: Name;
  /** One record, for headings and schema names: "Campaign". */
  readonly title: string;
  /** What such a record is, for people and models who read the description. */
  readonly description: string;
  /** The list operation in one sentence. */
  readonly summary: string;
  /** For models: what the records hold, and when to read this list rather than another. */
  readonly guide: string;
  /** Accepts what may be imported (strictly); describes what is answered. */
  readonly schema: Shape;
  /** One record for the API description. */
  readonly example: z.output<Shape>;
}

export function defineResource<const Name extends string, Shape extends z.ZodObject>(
  resource: Resource<Name, Shape>,
): Resource<Name, Shape> {
  return Object.freeze(resource);
}

/** The fields of a resource that are numbers, and those that are times. */
export function fieldsByKind({ schema }: Resource): { readonly numbers: readonly string[]; readonly times: readonly string[] } {
  const fields = Object.entries(schema.shape).map(([name, field]) => ({ name, schema: required(field as z.ZodType) }));
  const named = (matches: (field: z.ZodType) => boolean): string[] =>
    fields.filter((field) => matches(field.schema)).map(({ name }) => name);
  return {
    numbers: named((field) => field instanceof z.ZodNumber),
    times: named((field) => field.meta()?.["format"] === "date-time"),
  };
}

/** What a field holds where it is neither left out nor null. */
function required(field: z.ZodType): z.ZodType {
  return field instanceof z.ZodDefault || field instanceof z.ZodNullable ? required(field.unwrap() as z.ZodType) : field;
}
