import type { Input, Output } from "@brand-records/console-contract";

/** The page's filters in its URL. */
export type FailedSearch = Readonly<Partial<Record<"range" | "key" | "route" | "code" | "field", string>>>;

export type FailedGroup = Output<"requests.failed">["groups"][number];

/** Stands in a URL for requests whose error names no field. */
export const NO_FIELD = "none";

/** The search that shows one group alone. */
export const searchFor = ({ range }: FailedSearch, { key_id, route, code, field }: FailedGroup): FailedSearch => ({
  ...(range !== undefined && { range }),
  key: key_id,
  route,
  code,
  field: field === "" ? NO_FIELD : field,
});

type Selected = Pick<Input<"requests.failed">, "key_id" | "route" | "code" | "field">;

/** Returns the filters of a URL as the service takes them. */
export const selectedBy = ({ key, route, code, field }: FailedSearch): Selected => ({
  ...(key !== undefined && { key_id: key }),
  ...(route !== undefined && { route }),
  ...(code !== undefined && { code }),
  ...(field !== undefined && { field: field === NO_FIELD ? "" : field }),
});

/** A route's parts as people know them: an assistant's tool, or the method and path of a request. */
export function routeText(route: string): { readonly name: string; readonly of: string | undefined } {
  const [method = "", path = "", message, tool] = route.split(" ");
  if (tool !== undefined) return { name: tool, of: "Assistant, tool call" };
  if (message !== undefined) return { name: message, of: "Assistant" };
  return { name: `${method} ${path}`, of: path === "/api/*" ? "A path that does not exist" : undefined };
}

/** What the error is about: "field limit". Undefined if it names nothing. */
export function fieldText(field: string): string | undefined {
  if (field === "") return undefined;
  return field === "*" ? "a field that does not exist there" : `field ${field}`;
}
