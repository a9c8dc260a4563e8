import { idPattern, idRule } from "@brand-records/ids";
import { z } from "zod";

/** The kinds of fields in an event message. */

export const id = (prefix: string, description: string): z.ZodString =>
  z.string().regex(idPattern(prefix), idRule(prefix)).describe(description);

/** Date.parse reads 30 February as 2 March. Postgres refuses it, and the year 0. */
const isTime = (text: string): boolean => {
  const at = new Date(text);
  return !Number.isNaN(at.getTime()) && at.toISOString() === text && !text.startsWith("0000");
};

export const time = (description: string): z.ZodString =>
  z
    .string()
    .regex(/^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/, "must be RFC 3339, UTC, with milliseconds")
    .refine(isTime, "is a time that does not exist")
    .meta({ format: "date-time" })
    .describe(description);

export const count = (description: string): z.ZodInt => z.int().min(0).describe(description);

export const centavos = (description: string): z.ZodInt => count(`${description}, in centavos`);
