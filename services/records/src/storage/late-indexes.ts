import type { LateIndex } from "@brand-records/postgres";
import { RESOURCE_NAMES, RESOURCES, type ResourceName } from "@brand-records/resources";

/** Where the order of an index places null. `created_at` is never null: it only tells the indexes apart, see page-statements.ts. */
const NULLS_FIRST = "created_at nulls first";

const of = (resource: ResourceName, name: string, columns: string): LateIndex => ({
  name: `${resource}_of_${name}`,
  table: `records.${resource}`,
  definition: `(brand_id, ${columns}, id)`,
});

/**
 * The indexes of filtered pages. Built after the start: until then such pages are complete and slow, under the statement timeout. The status
 * in them makes every change of a status write all indexes of its table; docs/decisions/0025-filters.md has the costs.
 */
export const LATE_INDEXES: readonly LateIndex[] = RESOURCE_NAMES.flatMap((resource) => {
  const { filters } = RESOURCES[resource];
  return [
    ...(filters.includes("link_id") ? [of(resource, "link", `link_id, status, ${NULLS_FIRST}`)] : []),
    ...(filters.includes("campaign_id") ? [of(resource, "campaign", `campaign_id, status, ${NULLS_FIRST}`)] : []),
    of(resource, "status", "status, created_at"),
  ];
});
