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

export interface DemoBrand {
  /** The same in every installation. It also selects the catalog of the generated records. */
  readonly id: string;
  readonly name: string;
  readonly tier: "plus" | "pro" | "enterprise";
  readonly ownerEmail: string;
  readonly sizes: BrandSizes;
}

/** An invented brand for each tier with API access, largest first. */
export const DEMO_BRANDS: readonly DemoBrand[] = Object.freeze([
  {
    id: "brd_01k1sem520ecxthczqg3ryfxme",
    name: "Ulap at Araw Skincare",
    tier: "enterprise",
    ownerEmail: "owner@ulap-at-araw.example",
    sizes: { campaigns: 18, submissions: 2_000, payouts: 1_100, deposits: 64, conversions: 50_000, links: 320 },
  },
  {
    id: "brd_01k2gm6m20e6taaypb3vf3f227",
    name: "Kapeng Alapaap",
    tier: "pro",
    ownerEmail: "owner@kapeng-alapaap.example",
    sizes: { campaigns: 12, submissions: 400, payouts: 220, deposits: 26, conversions: 10_000, links: 64 },
  },
  {
    id: "brd_01k37ss320enwvjmjzezf94yzz",
    name: "Lakad Lokal",
    tier: "plus",
    ownerEmail: "owner@lakad-lokal.example",
    sizes: { campaigns: 4, submissions: 60, payouts: 30, deposits: 6, conversions: 300, links: 9 },
  },
]);
