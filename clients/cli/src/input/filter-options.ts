import { RESOURCES, type FiltersOf, type ResourceName } from "@brand-records/client";
import type { FilterName } from "@brand-records/resources";
import { Argument, type Command } from "commander";

/** The options of the filters, by their names in the API. */
const OPTIONS = {
  id: ["--id <id>", "the record with this id"],
  campaign_id: ["--campaign-id <id>", "records of this campaign"],
  link_id: ["--link-id <id>", "conversions of this link"],
  status: ["--status <status>", "records with this status"],
  created_from: ["--created-from <time>", "created at or after a time, such as 2026-10-01T00:00:00+08:00"],
  created_before: ["--created-before <time>", "created before a time"],
} as const satisfies Record<FilterName, readonly [flags: string, description: string]>;

export type FilterOptions = Readonly<Partial<Record<string, string>>>;

export const resourceArgument = (): Argument => new Argument("<resource>", "what to read").choices(RESOURCES);

export function addFilterOptions(command: Command): Command {
  for (const [flags, description] of Object.values(OPTIONS)) command.option(flags, description);
  return command;
}

/** Returns the filters that were given. The service refuses those that the resource does not have, and says which it has. */
export function filtersFrom(options: FilterOptions): FiltersOf[ResourceName] {
  const given = Object.keys(OPTIONS).flatMap((name) => {
    const value = options[name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())];
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(given) as FiltersOf[ResourceName];
}
