import { RESOURCES, type FiltersOf, type ResourceName } from "@brand-records/client";
import { option, type Declared, type Values } from "@brand-records/command-line";
import type { FilterName } from "@brand-records/resources";
import { Argument } from "commander";

/** The options of the filters, by their names in the API. */
export const FILTER_OPTIONS = {
  id: option("--id <id>", "the record with this id"),
  campaign_id: option("--campaign-id <id>", "records of this campaign"),
  link_id: option("--link-id <id>", "conversions of this link"),
  creator_id: option("--creator-id <id>", "submissions, payouts or links of this creator"),
  external_id: option("--external-id <number>", "conversions with this order number"),
  status: option("--status <status>", "records with this status"),
  created_from: option("--created-from <time>", "created at or after a time, such as 2026-10-01T00:00:00+08:00"),
  created_before: option("--created-before <time>", "created before a time"),
} satisfies Record<FilterName, Declared<string | undefined>>;

export const resourceArgument = (): Argument => new Argument("<resource>", "what to read").choices(RESOURCES);

/** Returns the filters that were given. The service refuses those that the resource does not have, and says which it has. */
export function filtersFrom(options: Values<typeof FILTER_OPTIONS>): FiltersOf[ResourceName] {
  const names = Object.keys(FILTER_OPTIONS) as FilterName[];
  return Object.fromEntries(names.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])));
}
