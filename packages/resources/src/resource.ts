import type { z } from "zod";

/** One of the six kinds of records: its name in paths, and what its records hold. */
export interface Resource<Name extends string = string, Shape extends z.ZodObject = z.ZodObject> {
  readonly name: Name;
  /** One record, for headings and schema names: "Campaign". */
  readonly title: string;
  /** What such a record is, for people and models who read the description. */
  readonly description: string;
  /** Accepts what may be imported (strictly); describes what is answered. */
  readonly schema: Shape;
}

export function defineResource<const Name extends string, Shape extends z.ZodObject>(
  resource: Resource<Name, Shape>,
): Resource<Name, Shape> {
  return Object.freeze(resource);
}
