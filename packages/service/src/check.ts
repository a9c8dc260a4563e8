import { AppError } from "@brand-records/errors";
import { z } from "zod";

/**
 * What a request says, as far as the handler uses it.
 *
 * @throws AppError `invalid_request` with every problem
 */
export function check<Shape extends z.ZodRawShape>(shape: Shape, input: unknown): z.output<z.ZodObject<Shape>> {
  const parsed = z.object(shape).safeParse(input);
  if (parsed.success) return parsed.data;
  const details = parsed.error.issues.map((issue) => ({ field: issue.path.join("."), message: issue.message }));
  const [first] = details;
  throw new AppError("invalid_request", details.map(({ field, message }) => `${field} ${message}`).join("; "), {
    field: first?.field ?? "",
    details,
  });
}

/** `prefix_` and 1 to 40 of `[0-9a-z]`. */
export const idField = (prefix: string): z.ZodString =>
  z.string().regex(new RegExp(`^${prefix}_[0-9a-z]{1,40}$`), `must be ${prefix}_ and 1 to 40 lower-case letters or digits`);

/** E-mail addresses are compared in lower case. */
export const emailField = (): z.ZodEmail => z.email("must be an e-mail address").max(254).toLowerCase();
