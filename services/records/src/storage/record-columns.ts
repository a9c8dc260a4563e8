import { RESOURCES, type ResourceName } from "@brand-records/resources";

/** Returns the columns of a resource's table without brand_id: the names of the resource's fields. */
export function columnsOf(resource: ResourceName): string[] {
  return Object.keys(RESOURCES[resource].schema.shape);
}
