import { BrandRecords } from "@brand-records/client";
import { RESOURCE_NAMES, RESOURCES, type ResourceName } from "@brand-records/resources";
import { z } from "zod";
import { brandRecords } from "../command-line.ts";
import { post, toolCall } from "../mcp.ts";
import { readCsv } from "../read-csv.ts";
import { startOnSharedServices, type SharedStack, type TestBrand } from "../stack.ts";
import { importStrangers, type StrangersRecords } from "./import.ts";

/**
 * One promise: whatever the platform may import, every reader of ours gets, unchanged. test/strangers/records.ndjson has 200 records, in the
 * order of the lists: URLs that no URL class takes as they are, texts of every script and syntax, hidden characters, amounts and times at
 * both ends of their range, records that share a time with more than a page of others, and null wherever it may be.
 */

const RECORDS = 200;
const LIMITS = [7, 200];

let stack: SharedStack;
let brand: TestBrand;
let strangers: StrangersRecords;
beforeAll(async () => {
  stack = await startOnSharedServices({ RATE_LIMIT_PLUS: "100000" });
  brand = await stack.createBrand();
  strangers = await importStrangers(stack, brand);
});
afterAll(() => stack.stop());

interface Page {
  readonly data: readonly object[];
  readonly next_cursor?: string;
}

async function readAll(readPage: (cursor: string | undefined) => Promise<Page>): Promise<object[]> {
  const records: object[] = [];
  let cursor: string | undefined;
  do {
    const page = await readPage(cursor);
    records.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return records;
}

it("the corpus has every value of every list, and null in every field that may have it", () => {
  expect(RESOURCE_NAMES.flatMap((resource) => strangers[resource])).toHaveLength(RECORDS);
  const missing = RESOURCE_NAMES.flatMap((resource) =>
    Object.entries(RESOURCES[resource].schema.shape).flatMap(([name, field]) => {
      const values = new Set(strangers[resource].map((record) => record[name]));
      return valuesOf(field as z.ZodType)
        .filter((value) => !values.has(value))
        .map((value) => `${resource}.${name}: ${value}`);
    }),
  );
  expect(missing).toEqual([]);
  for (const resource of RESOURCE_NAMES) {
    const nullable = Object.entries(RESOURCES[resource].schema.shape).flatMap(([name, field]) =>
      field instanceof z.ZodDefault ? [name] : [],
    );
    const isAll = (matches: (value: unknown) => boolean) =>
      strangers[resource].some((record) => nullable.every((name) => matches(record[name])));
    expect([resource, isAll((value) => value === null), isAll((value) => value !== null)]).toEqual([resource, true, true]);
  }
});

/** The values that a field must have somewhere. */
function valuesOf(field: z.ZodType): readonly (string | null)[] {
  if (field instanceof z.ZodDefault) return [null, ...valuesOf((field.unwrap() as z.ZodNullable<z.ZodType>).unwrap())];
  return field instanceof z.ZodEnum ? (field.options as string[]) : [];
}

describe.each(RESOURCE_NAMES)("%s", (resource: ResourceName) => {
  it.each(LIMITS)("come over HTTP in pages of %i", async (limit) => {
    const records = await readAll(async (cursor) => {
      const query = cursor === undefined ? "" : `&cursor=${cursor}`;
      return (await (await stack.get(`/api/v1/${resource}?limit=${limit}${query}`, brand.key)).json()) as Page;
    });
    expect(records).toEqual(strangers[resource]);
  });

  it.each(LIMITS)("come through the client in pages of %i", async (limit) => {
    const client = new BrandRecords({ url: stack.url, key: brand.key });
    const records: object[] = [];
    for await (const record of client.list(resource, {}, { limit })) records.push(record);
    expect(records).toEqual(strangers[resource]);
  });

  it("are exported as NDJSON, and as CSV without formulas", async () => {
    const env = { BRAND_RECORDS_URL: stack.url, BRAND_RECORDS_KEY: brand.key };
    const exported = async (format: string) => (await brandRecords(["export", resource, "--format", format, "--out", "-"], { env })).stdout;
    expect(
      (await exported("ndjson"))
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as object),
    ).toEqual(strangers[resource]);
    const cells = strangers[resource].map((record) => Object.values(record).map(cellOf));
    expect(readCsv(await exported("csv"))).toEqual([Object.keys(RESOURCES[resource].schema.shape), ...cells]);
  });

  it("come through the assistants' tool, with hidden characters shown", async () => {
    const records = await readAll(async (cursor) => {
      const { body } = await post(stack.url, brand.key, toolCall("stateless", `list_${resource}`, { limit: 7, cursor: cursor ?? null }));
      const { content, structuredContent } = body.result;
      expect(JSON.parse(content[0]?.text ?? "")).toEqual(structuredContent);
      return structuredContent;
    });
    // Without those that a reader cannot see, the texts are the same.
    expect(records.map(visible)).toEqual(strangers[resource].map(visible));
    expect(JSON.stringify(records)).not.toMatch(/[\u202e\u2066\u2028\u{e0041}]/u);
  });
});

/** A value as a spreadsheet shows it. An apostrophe keeps a formula from running. */
function cellOf(value: unknown): string {
  if (value === null) return "";
  if (typeof value !== "string") return JSON.stringify(value);
  return /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(value) ? `'${value}` : value;
}

const visible = (record: object): unknown =>
  JSON.parse(JSON.stringify(record), (_, value: unknown) =>
    typeof value === "string" ? value.replaceAll(/\[\d+ hidden characters\]|[\p{Cf}\p{DI}\u007f-\u009f\u2028\u2029]/gu, "") : value,
  );
