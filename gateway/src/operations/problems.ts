import { AppError, othersIn, PROBLEMS_MAX, type ProblemDetail } from "@brand-records/errors";

const FIELD_LENGTH_MAX = 64;

/** @param problems at least one; the first ones are reported */
export function invalidParameters(problems: readonly ProblemDetail[]): AppError {
  const reported = problems.slice(0, PROBLEMS_MAX).map(({ field, message }) => ({ field: shortened(field), message }));
  const [first] = reported;
  return new AppError("invalid_parameter", `${first?.message}${othersIn(problems)}`, {
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
