import { DEMO_BRANDS, type DemoBrand } from "@brand-records/demo-data";
import { seedBrand } from "../seed-brand.ts";
import { callContext, type Stack } from "../stack.ts";

/** Monday evening in Manila. The questions are asked then. */
const NOW = Date.parse("2026-11-23T18:34:00+08:00");

/** Creates the largest demo brand with the year before that evening, the same in every run. Returns its id and a reporting key. */
export async function createDemoBrand(stack: Stack): Promise<{ readonly id: string; readonly key: string }> {
  const { id, name, tier, ownerEmail, sizes } = DEMO_BRANDS[0] as DemoBrand;
  await stack.accounts.createBrand({ id, name, tier, verified: true }, callContext());
  await stack.accounts.addMember({ brand_id: id, email: ownerEmail, role: "owner" }, callContext());
  await seedBrand(stack, id, sizes, { now: NOW });
  return { id, key: (await stack.createKey({ id, owner: ownerEmail })).secret };
}
