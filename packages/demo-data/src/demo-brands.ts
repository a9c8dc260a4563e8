import type { ResourceName } from "@brand-records/resources";
import { streamOf } from "./random.ts";

/** The resources with demo data, in the order of an import: what others refer to comes first. */
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

/** What a brand sells, and where. */
export interface Catalog {
  /** A host under .example, a reserved domain. */
  readonly shop: string;
  readonly orderPrefix: string;
  readonly medianOrderCentavos: number;
  readonly products: readonly string[];
}

export interface DemoBrand {
  /** The same in every installation. */
  readonly id: string;
  readonly name: string;
  readonly tier: "plus" | "pro" | "enterprise";
  readonly ownerEmail: string;
  readonly sizes: BrandSizes;
  readonly catalog: Catalog;
}

/** An invented brand for each tier with API access, largest first. */
export const DEMO_BRANDS: readonly DemoBrand[] = Object.freeze([
  {
    id: "brd_01k1sem520ecxthczqg3ryfxme",
    name: "Ulap at Araw Skincare",
    tier: "enterprise",
    ownerEmail: "owner@ulap-at-araw.example",
    sizes: { campaigns: 18, submissions: 2_000, payouts: 1_100, deposits: 64, conversions: 50_000, links: 320 },
    catalog: {
      shop: "ulap-at-araw.example",
      orderPrefix: "UAA",
      medianOrderCentavos: 64_900,
      products: ["Calamansi Glow Serum", "Rice Water Toner", "Sampaguita Body Mist", "Papaya Enzyme Cleanser", "Barrier Repair Cream"],
    },
  },
  {
    id: "brd_01k2gm6m20e6taaypb3vf3f227",
    name: "Kapeng Alapaap",
    tier: "pro",
    ownerEmail: "owner@kapeng-alapaap.example",
    sizes: { campaigns: 12, submissions: 400, payouts: 220, deposits: 26, conversions: 10_000, links: 64 },
    catalog: {
      shop: "kapeng-alapaap.example",
      orderPrefix: "KAL",
      medianOrderCentavos: 38_500,
      products: ["Barako Drip Bags", "Ube Latte Mix", "Cold Brew Concentrate", "Tsokolate de Batirol", "Pandan Coffee Jelly Kit"],
    },
  },
  {
    id: "brd_01k37ss320enwvjmjzezf94yzz",
    name: "Lakad Lokal",
    tier: "plus",
    ownerEmail: "owner@lakad-lokal.example",
    sizes: { campaigns: 4, submissions: 60, payouts: 30, deposits: 6, conversions: 300, links: 9 },
    catalog: {
      shop: "lakad-lokal.example",
      orderPrefix: "LKD",
      medianOrderCentavos: 89_900,
      products: ["Everyday Tsinelas", "Marikina Loafers", "Ulan-Proof Clogs", "Takbo Trainers", "Pang-Simba Sandals"],
    },
  },
]);

/** A demo brand sells its own products; any other brand those of one of them. */
export function catalogOf(brandId: string): Catalog {
  const brand = DEMO_BRANDS.find(({ id }) => id === brandId) ?? DEMO_BRANDS[streamOf(brandId) % DEMO_BRANDS.length];
  return (brand as DemoBrand).catalog;
}
