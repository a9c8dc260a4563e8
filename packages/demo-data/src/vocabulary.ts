import type { RecordOf } from "@brand-records/resources";
import type { Random } from "./random.ts";

/** What a brand sells, and where. Every shop and short-link host is under .example, a reserved domain. */
export interface Catalog {
  readonly shop: string;
  readonly orderPrefix: string;
  /** Median order value. */
  readonly medianOrderCentavos: number;
  readonly products: readonly string[];
}

export const CATALOGS: readonly Catalog[] = [
  {
    shop: "ulap-at-araw.example",
    orderPrefix: "UAA",
    medianOrderCentavos: 64_900,
    products: [
      "Calamansi Glow Serum",
      "Rice Water Toner",
      "Araw-Araw Sunscreen SPF 50",
      "Sampaguita Body Mist",
      "Papaya Enzyme Cleanser",
      "Tubig Gel Moisturizer",
      "Virgin Coco Lip Balm",
      "Barrier Repair Cream",
    ],
  },
  {
    shop: "kapeng-alapaap.example",
    orderPrefix: "KAL",
    medianOrderCentavos: 38_500,
    products: [
      "Barako Drip Bags",
      "Ube Latte Mix",
      "Cold Brew Concentrate",
      "Tsokolate de Batirol",
      "Pandan Coffee Jelly Kit",
      "Salabat Shots",
      "Merienda Box",
    ],
  },
  {
    shop: "lakad-lokal.example",
    orderPrefix: "LKD",
    medianOrderCentavos: 89_900,
    products: [
      "Everyday Tsinelas",
      "Abaca Slides",
      "Marikina Loafers",
      "Ulan-Proof Clogs",
      "Takbo Trainers",
      "Pang-Simba Sandals",
      "Baon Tote",
    ],
  },
  {
    shop: "tahanang-payak.example",
    orderPrefix: "THP",
    medianOrderCentavos: 124_900,
    products: [
      "Banig-Weave Rug",
      "Capiz Night Light",
      "Rice Cooker Mini",
      "Condo-Size Dining Set",
      "Malamig Desk Fan",
      "Kulambo Canopy",
      "Bayong Laundry Basket",
    ],
  },
];

export const PLATFORMS = ["tiktok", "instagram", "facebook", "youtube"] as const;
export type Platform = (typeof PLATFORMS)[number];
export const PLATFORM_WEIGHTS: Readonly<Record<Platform, number>> = { tiktok: 55, instagram: 20, facebook: 17, youtube: 8 };

export const CAMPAIGN_TYPES: readonly CampaignType[] = ["blitz", "ugc", "package", "affiliate"];
export type CampaignType = RecordOf<"campaigns">["type"];

/** `%` stands for a product. */
const TITLES: Readonly<Record<CampaignType, readonly string[]>> = {
  blitz: [
    "% Clip Challenge",
    "Payday Budol: % Clipping Blitz",
    "Clip mo, Kita mo: %",
    "% sa For You Page",
    "10.10 % Clip Rush",
    "Viral na 'to! % Clips",
    "Sulit Serye: % in 15 Seconds",
  ],
  ugc: [
    "Honest Review ng %",
    "First Impressions: %",
    "GRWM with %",
    "% Unboxing, Taglish OK",
    "Bakit ko binalikan ang %",
    "A Week with %",
    "Ipakita ang % mo",
  ],
  package: [
    "% Launch: Mga Ate at Kuya ng Bayan",
    "Barkada Package: %",
    "% x Probinsya Creators",
    "Ber Months na! % Ambassadors",
    "Back to School Squad: %",
    "% Titas of Manila Edition",
  ],
  affiliate: [
    "Share & Earn: %",
    "Kita Kits: % Links",
    "% Suki Program",
    "12.12 % Affiliate Sale",
    "Payday Weekend: % Codes",
    "Libreng Shipping Links: %",
  ],
};

/** Titles repeat in large sets. */
export function campaignTitle(type: CampaignType, catalog: Catalog, random: Random): string {
  return random.pick(TITLES[type]).replace("%", () => random.pick(catalog.products));
}

export function slug(product: string): string {
  return product
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}
