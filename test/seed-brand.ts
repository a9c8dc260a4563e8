import { importRecords } from "@brand-records/brandctl";
import { DEMO_RESOURCES, generateBrand, type BrandSizes } from "@brand-records/demo-data";
import type { Stack } from "./stack.ts";

const SIZES: BrandSizes = { campaigns: 5, submissions: 400, payouts: 5, deposits: 5, conversions: 5, links: 5 };
const NOW = Date.UTC(2026, 10, 21);

/** Imports a year of related records into a brand, the same ones each time. */
export async function seedBrand(
  stack: Pick<Stack, "importing">,
  brandId: string,
  sizes: BrandSizes = SIZES,
  { seed = 1, now = NOW } = {},
): Promise<void> {
  const generated = generateBrand({ brandId, seed, now, sizes });
  for (const resource of DEMO_RESOURCES) {
    const target = { brandId, resource, skipBad: false };
    const { summary, problems } = await importRecords(stack.importing, target, lines(generated[resource]()));
    if (!summary.committed) throw new Error(`the ${resource} were refused: ${JSON.stringify(problems[0])}`);
  }
}

function* lines(records: Iterable<object>): Generator<string> {
  for (const record of records) yield JSON.stringify(record);
}
