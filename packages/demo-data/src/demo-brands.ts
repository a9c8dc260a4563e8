import type { BrandSizes } from "./sizes.ts";

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
