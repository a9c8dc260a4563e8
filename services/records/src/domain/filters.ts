import { AppError } from "@brand-records/errors";
import {
  EARLIEST_INSTANT,
  FILTER_NAMES,
  filterProblem,
  formatInstant,
  LATEST_INSTANT,
  parseInstantUp,
  RESOURCES,
  type FilterName,
  type Filters,
  type ResourceName,
} from "@brand-records/resources";

/** Filters as a request carries them. */
export type GivenFilters = { readonly [Name in FilterName]?: string | null | undefined };

/** Later than every record. Postgres reads it as a time. */
export const END_OF_TIME = "infinity";

/**
 * Checks and normalizes a request's filters: times are UTC with milliseconds, or END_OF_TIME.
 *
 * @throws AppError `invalid_parameter` for the first that is malformed, or that the resource does not have
 */
export function filtersFrom(resource: ResourceName, given: GivenFilters): Filters {
  const filters: { [Name in FilterName]?: string } = {};
  for (const name of FILTER_NAMES) {
    const value = given[name];
    if (value == null) continue;
    const problem = RESOURCES[resource].filters.includes(name)
      ? filterProblem(RESOURCES[resource], name, value)
      : `is no filter of ${resource}`;
    if (problem !== undefined) throw new AppError("invalid_parameter", `${name} ${problem}`, { field: name });
    filters[name] = name === "created_from" || name === "created_before" ? boundFrom(value) : value;
  }
  return filters;
}

/**
 * Returns a bound rounded up to milliseconds. created_at has milliseconds, so "at or after .1234" and "at or after .124" select the same
 * records, and so do "before .1234" and "before .124".
 */
function boundFrom(text: string): string {
  const instant = parseInstantUp(text) ?? Number.NaN;
  return instant > LATEST_INSTANT ? END_OF_TIME : formatInstant(Math.max(instant, EARLIEST_INSTANT));
}
