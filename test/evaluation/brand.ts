import { type BrandSizes, DEMO_BRANDS, type DemoBrand } from "@brand-records/demo-data";
import { seedBrand } from "../seed-brand.ts";
import { callContext, type Stack } from "../stack.ts";

/** Monday evening in Manila. The questions are asked then. */
const NOW = Date.parse("2026-11-23T18:34:00+08:00");

const [LARGEST, ANOTHER] = DEMO_BRANDS as readonly [DemoBrand, DemoBrand];

/** The sizes at which questions are asked: the largest demo brand, and one with 20 times as many records of each resource. */
export const SIZES = { demo: { brand: LARGEST, times: 1 }, large: { brand: ANOTHER, times: 20 } } as const;
export type Size = keyof typeof SIZES;

/** Creates a brand with the year before that evening, the same in every run. Returns its id and a reporting key. */
export async function createBrandOf(stack: Stack, size: Size): Promise<{ readonly id: string; readonly key: string }> {
  const { brand, times } = SIZES[size];
  const { id, name, ownerEmail } = brand;
  await stack.accounts.createBrand({ id, name, tier: LARGEST.tier, verified: true }, callContext());
  await stack.accounts.addMember({ brand_id: id, email: ownerEmail, role: "owner" }, callContext());
  const sizes = Object.fromEntries(Object.entries(LARGEST.sizes).map(([resource, count]) => [resource, count * times]));
  await seedBrand(stack, id, sizes as unknown as BrandSizes, { now: NOW });
  return { id, key: (await stack.createKey({ id, owner: ownerEmail })).secret };
}
