import { readFileSync } from "node:fs";
import { importRecords } from "@brand-records/brandctl";
import { RESOURCE_NAMES, RESOURCES, type ResourceName } from "@brand-records/resources";
import type { Stack, TestBrand } from "../stack.ts";

export interface StrangersRecord {
  readonly id: string;
  readonly created_at: string;
  readonly [field: string]: unknown;
}

/** The records of each resource, in the order of its list. */
export type StrangersRecords = Readonly<Record<ResourceName, readonly StrangersRecord[]>>;

/** Reads the corpus: a line is a record as an import takes it; the prefix of its id tells its resource. strangers.test.ts says what it holds. */
export function strangersRecords(): StrangersRecords {
  const records = readFileSync("test/strangers/records.ndjson", "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as StrangersRecord);
  const prefixOf = (id: string): string => id.slice(0, id.indexOf("_"));
  return Object.fromEntries(
    RESOURCE_NAMES.map((resource) => [resource, records.filter(({ id }) => prefixOf(id) === prefixOf(RESOURCES[resource].example.id))]),
  ) as unknown as StrangersRecords;
}

/** Imports the corpus into a brand, campaigns first: the others refer to them. Returns what the lists then hold. */
export async function importStrangers(stack: Pick<Stack, "importing">, { id: brandId }: Pick<TestBrand, "id">): Promise<StrangersRecords> {
  const strangers = strangersRecords();
  for (const resource of RESOURCE_NAMES) {
    const lines = strangers[resource].map((record) => JSON.stringify(record));
    const { summary, problems } = await importRecords(stack.importing, { brandId, resource, skipBad: false }, lines);
    if (summary.inserted !== lines.length) throw new Error(`the ${resource} were not imported: ${JSON.stringify({ summary, problems })}`);
  }
  return strangers;
}
