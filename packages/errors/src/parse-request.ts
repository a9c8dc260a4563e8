import { z } from "zod";
import { AppError } from "./app-error.ts";
import { PROBLEMS_MAX } from "./problems.ts";

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
