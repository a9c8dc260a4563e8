import type { ResourceName } from "@brand-records/resources";

/** How many records of each resource. */
export type BrandSizes = Readonly<Record<ResourceName, number>>;

const COUNT_MAX = 100_000_000;

/** @throws RangeError when a count is none, or when records would have nothing to belong to */
export function checkSizes(sizes: BrandSizes): void {
  for (const [resource, count] of Object.entries(sizes)) {
    if (!Number.isInteger(count) || count < 0 || count > COUNT_MAX) {
      throw new RangeError(`${resource}: must be a whole number from 0 to ${COUNT_MAX}`);
    }
  }
  const { campaigns, submissions, payouts, conversions, links } = sizes;
  if (campaigns === 0 && submissions + payouts + links + conversions > 0) {
    throw new RangeError("campaigns: at least 1 is needed, for the other records to belong to");
  }
  if (links === 0 && conversions > 0) throw new RangeError("links: at least 1 is needed, for the conversions to come through");
}
