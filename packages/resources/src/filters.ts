import { z } from "zod";
import { instantProblem, parseInstant } from "./instant.ts";
import { type FilterName, requiredSchema, type Resource } from "./resource.ts";

/** Keeps the records that match all given filters. */
export type Filters = { readonly [Name in FilterName]?: string };

/** Like `since`, it may lie outside the range of `created_at`. */
const TIME = z
  .string()
  .refine((text) => parseInstant(text) !== undefined, { error: ({ input }) => instantProblem(String(input)) })
  .meta({ format: "date-time" });

/**
 * Returns the schema of a filter's values: `created_from` (at or after) and `created_before` (before) are times, all others have the
 * values of the field that they are named after.
 */
export function filterSchema({ schema }: Resource, name: FilterName): z.ZodType {
  return name === "created_from" || name === "created_before" ? TIME : requiredSchema(schema.shape[name] as z.ZodType);
}

/** Returns what is wrong with a filter's value, to follow the filter's name: the allowed values. Returns undefined if it is valid. */
export function filterProblem(resource: Resource, name: FilterName, value: unknown): string | undefined {
  if (name === "external_id" && typeof value !== "string") return "must be text";
  // No filter accepts empty text: any value of another type gets the same message.
  const { error } = filterSchema(resource, name).safeParse(typeof value === "string" ? value : "");
  return error?.issues[0]?.message;
}

/** Whether a range of valid times holds no time: a mistake, whose empty page would pass for an answer. */
export const isEmptyRange = ({ created_from, created_before }: Filters): boolean =>
  created_from !== undefined && created_before !== undefined && nanoseconds(created_before) <= nanoseconds(created_from);

const nanoseconds = (time: string): bigint =>
  BigInt(parseInstant(time) ?? 0) * 1_000_000n + BigInt((/\.\d{3}(\d+)/.exec(time)?.[1] ?? "").padEnd(6, "0"));
