import { z } from "zod";
import { AppError, type ProblemDetail } from "./app-error.ts";

/** Enough to fix a call by. A body of 768 KiB can hold 60,000 unknown names, whose copies and messages took 220 ms of a gateway's turn. */
export const PROBLEMS_MAX = 30;

/** What an error's message says of the problems after its first. */
export function othersIn({ length }: readonly ProblemDetail[]): string {
  if (length <= 1) return "";
  return ` (${length > PROBLEMS_MAX ? `more than ${PROBLEMS_MAX}` : length} problems in all, see details)`;
}

/** Returns the names of an object that `isKnown` refuses: the first ones, one more than an error reports. */
export function unknownNames(given: object, isKnown: (name: string) => boolean): string[] {
  const unknown: string[] = [];
  for (const name of Object.keys(given)) {
    if (isKnown(name)) continue;
    unknown.push(name);
    if (unknown.length > PROBLEMS_MAX) break;
  }
  return unknown;
}

/**
 * Validates what a caller sent, by a schema or by the fields that the handler uses.
 *
 * @throws AppError `invalid_request` with the problems, up to 30
 */
export function parseRequest<Shape extends z.ZodRawShape>(fields: Shape, input: unknown): z.output<z.ZodObject<Shape>>;
export function parseRequest<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema>;
export function parseRequest(schema: z.ZodType | z.ZodRawShape, input: unknown): unknown {
  const parsed = (schema instanceof z.ZodType ? schema : z.object(schema)).safeParse(input);
  if (parsed.success) return parsed.data;
  const details = parsed.error.issues.slice(0, PROBLEMS_MAX).map((issue) => ({ field: issue.path.join("."), message: issue.message }));
  const [first] = details;
  throw new AppError("invalid_request", details.map(({ field, message }) => `${field} ${message}`.trim()).join("; "), {
    field: first?.field ?? "",
    details,
  });
}
