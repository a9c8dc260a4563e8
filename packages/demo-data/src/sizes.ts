import type { ResourceName } from "@brand-records/resources";

/**
 * The resources with demo data, in the order of an import: what others refer to comes first. A resource that is left out
 * has none.
 */
export const DEMO_RESOURCES = Object.freeze([
  "campaigns",
  "links",
  "payouts",
  "deposits",
  "submissions",
  "conversions",
] as const satisfies readonly ResourceName[]);

export type DemoResource = (typeof DEMO_RESOURCES)[number];

/** How many records of each resource. */
export type BrandSizes = Readonly<Record<DemoResource, number>>;

const COUNT_MAX = 100_000_000;

/** @throws RangeError when a count is out of range, or leaves records with nothing to belong to */
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
