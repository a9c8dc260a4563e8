import type { Key } from "@brand-records/console-contract";
import { FAILED_RANGE, TIME_RANGES, type FailedRangeName } from "@brand-records/console-contract/time-ranges";
import type { Filter } from "../../parts/filters/filter-bar.tsx";
import { NO_FIELD, routeText, type FailedGroup } from "./failed-search.ts";
import { rangeLabel } from "./ranges.ts";

interface Choice {
  readonly value: string;
  readonly label: string;
}

const distinct = (choices: readonly Choice[]): Choice[] => [...new Map(choices.map((choice) => [choice.value, choice])).values()];

/** The page's filters: each offers what the groups that show have, and the keys that the brand has. */
export function filtersFor(groups: readonly FailedGroup[], keys: readonly Key[]): readonly Filter[] {
  const ranges = (Object.keys(TIME_RANGES) as FailedRangeName[]).map((value) => ({ value, label: rangeLabel(value) }));
  const choice = (name: string, label: string, all: string, options: readonly Choice[]): Filter => ({
    kind: "choice",
    name,
    label,
    all,
    options: distinct(options),
  });
  return [
    choice(
      "range",
      "Time",
      rangeLabel(FAILED_RANGE),
      ranges.filter(({ value }) => value !== FAILED_RANGE),
    ),
    choice(
      "key",
      "Key",
      "All keys",
      keys.map(({ id, name }) => ({ value: id, label: name })),
    ),
    choice(
      "route",
      "Request",
      "All requests",
      groups.map(({ route }) => ({ value: route, label: routeText(route).name })),
    ),
    choice(
      "code",
      "Error",
      "All errors",
      groups.map(({ code }) => ({ value: code, label: code })),
    ),
    choice(
      "field",
      "Field",
      "All fields",
      groups.map(({ field }) => (field === "" ? { value: NO_FIELD, label: "No field" } : { value: field, label: field })),
    ),
  ];
}
