import type { Input, Output, Key } from "@brand-records/console-contract";
import { FAILED_RANGE, TIME_RANGES, type FailedRangeName } from "@brand-records/console-contract/time-ranges";
import { choice } from "../../parts/filters/choice.ts";
import type { Filter } from "../../parts/filters/filter-bar.tsx";
import { routeText } from "./route-text.ts";

/** The page's filters in its URL. */
export type FailedSearch = Readonly<Partial<Record<"range" | "key" | "route" | "code" | "field", string>>>;

export type FailedGroup = Output<"requests.failed">["groups"][number];

/** Stands in a URL for requests whose error names no field. */
const NO_FIELD = "none";

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
  key_id: key,
  route,
  code,
  field: field === NO_FIELD ? "" : field,
});

/** What the error is about: "field limit". Undefined if it names nothing. */
export function fieldText(field: string): string | undefined {
  if (field === "") return undefined;
  return field === "*" ? "a field that does not exist there" : `field ${field}`;
}

const rangeLabel = (name: FailedRangeName): string => `Last ${TIME_RANGES[name].length}`;

/** The page's filters: each offers what the groups that show have, and the keys that the brand has. */
export function filtersFor(groups: readonly FailedGroup[], keys: readonly Key[]): readonly Filter[] {
  const ranges = (Object.keys(TIME_RANGES) as FailedRangeName[]).filter((name) => name !== FAILED_RANGE);
  return [
    choice("range", "Time", rangeLabel(FAILED_RANGE), ranges, (name) => [name, rangeLabel(name)]),
    choice("key", "Key", "All keys", keys, ({ id, name }) => [id, name]),
    choice("route", "Request", "All requests", groups, ({ route }) => [route, routeText(route).name]),
    choice("code", "Error", "All errors", groups, ({ code }) => [code, code]),
    choice("field", "Field", "All fields", groups, ({ field }) => (field === "" ? [NO_FIELD, "No field"] : [field, field])),
  ];
}
