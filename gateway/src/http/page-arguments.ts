import { invalidParameters, parsePageArguments, type PageArguments } from "../operations/list.ts";

/**
 * The arguments of a list from a query string, each given once.
 *
 * @param query without the question mark
 * @throws AppError `invalid_parameter`, naming the parameter
 */
export function pageArgumentsFrom(query: string): PageArguments {
  const given = new Map<string, string>();
  const repeated = new Set<string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (given.has(name)) repeated.add(name);
    given.set(name, value);
  }
  // In a query a plus sign means a space; left unencoded in an offset it can only have been a plus.
  const since = given.get("since");
  if (since !== undefined) given.set("since", since.replace(/ (?=\d\d:\d\d$)/, "+"));
  const page = parsePageArguments(given);
  const [name] = repeated;
  if (name !== undefined) throw invalidParameters([{ field: name, message: `${name} is given more than once. Send it once.` }]);
  return page;
}
