import { importRecords } from "@brand-records/brandctl";
import { generateBrand, type BrandSizes } from "@brand-records/demo-data";
import { RESOURCE_NAMES } from "@brand-records/resources";
import type { Stack } from "./stack.ts";

const NOW = Date.UTC(2026, 10, 21);

/** Gives a brand a year of records that belong together, the same each time. */
export async function seedBrand(stack: Stack, brandId: string, sizes: BrandSizes): Promise<void> {
  const generated = generateBrand({ brandId, seed: 1, now: NOW, sizes });
  for (const resource of RESOURCE_NAMES) {
    const target = { brandId, resource, skipBad: false };
    const { summary, problems } = await importRecords(stack.importing, target, lines(generated[resource]()));
    if (!summary.committed) throw new Error(`the ${resource} were refused: ${JSON.stringify(problems[0])}`);
  }
}

function* lines(records: Iterable<object>): Generator<string> {
  for (const record of records) yield JSON.stringify(record);
}
