import { AppError, type ProblemDetail } from "@brand-records/errors";

/** Enough to fix a call by; a body of 768 KiB can hold a hundred thousand. */
export const PROBLEMS_MAX = 20;
const FIELD_LENGTH_MAX = 64;

/**
 * @param problems at least one; the first 20 are reported
 * @param count of all problems, of which `problems` may be the first
 */
export function invalidParameters(problems: readonly ProblemDetail[], count = problems.length): AppError {
  const reported = problems.slice(0, PROBLEMS_MAX).map(({ field, message }) => ({ field: shortened(field), message }));
  const [first] = reported;
  const others = count > 1 ? ` (${count} problems in all, see details)` : "";
  return new AppError("invalid_parameter", `${first?.message}${others}`, {
    ...(first !== undefined && { field: first.field }),
    ...(reported.length > 1 && { details: reported }),
  });
}

/** Strict JSON readers refuse half an emoji: a caller may have sent one, and the cut may leave one. */
const shortened = (field: string): string => field.slice(0, FIELD_LENGTH_MAX).toWellFormed();

/** A caller's text, safe to repeat. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}…` : name);
}
