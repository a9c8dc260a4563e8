import { DEMO_BRANDS, DEMO_RESOURCES, generateBrand, type DemoBrand } from "@brand-records/demo-data";
import { importRecords } from "@brand-records/brandctl";
import { callContext, type Stack } from "../stack.ts";

/** Monday evening in Manila. The questions are asked then. */
const NOW = Date.parse("2026-11-23T18:34:00+08:00");
const SEED = 1;

/** Creates the largest demo brand with the year before that evening, the same in every run. Returns its id and a reporting key. */
export async function createDemoBrand(stack: Stack): Promise<{ readonly id: string; readonly key: string }> {
  const { id, name, tier, ownerEmail, sizes } = DEMO_BRANDS[0] as DemoBrand;
  await stack.accounts.createBrand({ id, name, tier, verified: true }, callContext());
  await stack.accounts.addMember({ brand_id: id, email: ownerEmail, role: "owner" }, callContext());
  const generated = generateBrand({ brandId: id, seed: SEED, now: NOW, sizes });
  for (const resource of DEMO_RESOURCES) {
    const lines = linesOf(generated[resource]());
    const { summary, problems } = await importRecords(stack.importing, { brandId: id, resource, skipBad: false }, lines);
    if (!summary.committed) throw new Error(`the ${resource} were refused: ${JSON.stringify(problems[0])}`);
  }
  const key = { brand_id: id, name: "Evaluation", environment: "live", permissions: [], created_by: ownerEmail };
  return { id, key: (await stack.accounts.createKey(key, callContext())).secret };
}

function* linesOf(records: Iterable<object>): Generator<string> {
  for (const record of records) yield JSON.stringify(record);
}
