import { AppError } from "@brand-records/errors";
import { pageArguments, type PageArguments } from "../operations/list.ts";

const NAMES = Object.keys(pageArguments.shape);

/**
 * The arguments of a list from a query string. Unknown and repeated ones are refused: a typed-wrong filter must not
 * return everything, and `brand_id=…` must never look as if it had worked.
 *
 * @param query without the question mark
 * @throws AppError `invalid_parameter`, naming the parameter
 */
export function pageArgumentsFrom(query: string): PageArguments {
  const given: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(query)) {
    if (!NAMES.includes(name)) throw invalid(name, `There is no parameter ${quoted(name)} here. Known are ${NAMES.join(", ")}.`);
    if (Object.hasOwn(given, name)) throw invalid(name, `${name} is given more than once. Send it once.`);
    given[name] = value;
  }
  // In a query a plus sign means a space; left unencoded in an offset it can only have been a plus.
  if (given["since"] !== undefined) given["since"] = given["since"].replace(/ (?=\d\d:\d\d$)/, "+");
  const parsed = pageArguments.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(String(issue?.path[0]), issue?.message ?? "");
}

function invalid(field: string, message: string): AppError {
  return new AppError("invalid_parameter", message, { field: field.slice(0, 64) });
}

/** What a caller wrote, safe to repeat. */
function quoted(name: string): string {
  return JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}…` : name);
}
