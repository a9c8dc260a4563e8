import { RESOURCE_NAMES, type ResourceName } from "@brand-records/resources";
import { newId } from "@brand-records/ids";
import { fieldsOf, sampleRecord, type Field, type FieldSchema } from "../../test/any-record.ts";
import { serveRecords, type ServedRecords } from "../../test/serve-records.ts";

/** Every column accepts and refuses in SQL what its field declares in packages/resources, so no value can break a page. */

/** One round trip for hundreds of inserts, each of which may fail. */
const TEST_INSERT = `
  create function test_insert(resource text, records jsonb) returns table (item integer, code text) language plpgsql as $$
  begin
    for i in 0 .. jsonb_array_length(records) - 1 loop
      begin
        execute format('insert into records.%1$I select (jsonb_populate_record(null::records.%1$I, $1)).*', resource)
          using records -> i;
      exception when others then
        item := i;
        code := sqlstate;
        return next;
      end;
    end loop;
  end $$`;

let served: ServedRecords;
beforeAll(async () => {
  served = await serveRecords();
  await served.db.query(TEST_INSERT);
});
afterAll(() => served.stop());

/** A valid record with one value replaced. */
interface Trial {
  readonly column: string;
  readonly value: unknown;
}

/** Inserts a record for each trial. Returns the refused ones with their SQLSTATE. */
async function insertAll(
  resource: ResourceName,
  brand: string,
  trials: readonly Trial[],
): Promise<(Trial & { readonly item: number; readonly code: string })[]> {
  const sample = { ...sampleRecord(resource), brand_id: brand };
  const records = trials.map(({ column, value }, index) => ({ ...sample, id: idOf(resource, index), [column]: value }));
  const refused = await served.db.query<{ item: number; code: string }>("select * from test_insert($1, $2)", [
    resource,
    JSON.stringify(records),
  ]);
  return refused.map(({ item, code }) => ({ ...(trials[item] as Trial), item, code }));
}

const idOf = (resource: ResourceName, index: number): string => `${prefixOf(fieldsOf(resource).get("id")?.schema)}_${index}`;
const prefixOf = (schema: FieldSchema | undefined): string => /^\^(\w+)_\[/.exec(schema?.pattern ?? "")?.[1] ?? "";

interface Values {
  readonly refused: readonly unknown[];
  readonly accepted: readonly unknown[];
}

const AMOUNTS: Values = {
  refused: ["-1", "9007199254740992", "9007199254740993", "9223372036854775807", "-9223372036854775808"],
  accepted: [0, Number.MAX_SAFE_INTEGER],
};
const TIMES: Values = {
  refused: [
    "infinity",
    "-infinity",
    "20000-01-01 00:00:00+00",
    "294276-12-31 23:59:59+00",
    "10000-01-01 00:00:00+00",
    // Rounded to milliseconds before the check.
    "9999-12-31 23:59:59.9996+00",
    "9999-12-31 23:00:00-02",
    "1999-12-31 23:59:59.999+00",
    "1970-01-01 00:00:00+00",
    "0044-03-15 00:00:00+00 BC",
  ],
  accepted: ["2000-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"],
};
const URLS: Values = {
  refused: [
    "javascript:alert(1)",
    "JavaScript://example.com/%0aalert(1)",
    "data:text/html,x",
    "ftp://example.com/",
    "//example.com/",
    "example.com",
    "",
    " https://example.com/",
    "https://",
    "https:///path",
    "https:example.com",
    "https://user:pw@example.com/",
    "https://@example.com/",
    "https://example.com/a b",
    "https://example.com/a\nb",
    "https://example.com/\u0001",
    `https://example.com/${"x".repeat(2_030)}`,
  ],
  accepted: [
    "https://example.com",
    "HTTP://EXAMPLE.com:8080/a?b=@c#d",
    "https://example.com/ü/ぁ",
    `https://example.com/${"x".repeat(2_028)}`,
  ],
};
const PLATFORMS: Values = {
  refused: [[""], [null], ["x".repeat(65)], ["x\n".repeat(1_000)], Array.from({ length: 21 }, () => "x"), [["a"], ["b"]]],
  accepted: [[], Array.from({ length: 20 }, () => "é".repeat(64))],
};
const smallIntegers = (max: number): Values => ({
  // Postgres' own integers end at 2147483647.
  refused: ["-1", ...(max < 2_147_483_647 ? [String(max + 1)] : [])],
  accepted: [0, max],
});
const ids = (prefix: string): Values => ({
  refused: ["", "x", `${prefix}_`, `${prefix}_A`, `${prefix}_${"0".repeat(41)}`, `${prefix}_1\n`],
  accepted: [`${prefix}_0`, `${prefix}_${"z".repeat(40)}`],
});
const texts = (max: number): Values => ({ refused: ["", "x".repeat(max + 1)], accepted: ["x", "ぁ".repeat(max)] });

function valuesOf({ type, enum: words, const: word, pattern, format, maximum = 0, maxLength = 0 }: FieldSchema): Values {
  if (type === "integer") return maximum === Number.MAX_SAFE_INTEGER ? AMOUNTS : smallIntegers(maximum);
  if (type === "array") return PLATFORMS;
  if (word !== undefined) return { refused: ["", "other things"], accepted: [word] };
  if (words !== undefined) return { refused: ["", "other things"], accepted: words };
  if (pattern !== undefined) return ids(prefixOf({ pattern }));
  if (format === "date-time") return TIMES;
  return format === "uri" ? URLS : texts(maxLength);
}

describe.each(RESOURCE_NAMES)("every column of %s", (resource) => {
  const trials = (choose: (values: Values, field: Field) => readonly unknown[]): Trial[] =>
    [...fieldsOf(resource)].flatMap(([column, field]) => choose(valuesOf(field.schema), field).map((value) => ({ column, value })));

  it("refuses the values that the API could not serve, at the write", async () => {
    const bad = trials(({ refused }, { isNullable }) => [...refused, ...(isNullable ? [] : [null])]);
    const refused = await insertAll(resource, newId("brd"), bad);
    expect(bad.filter((_, index) => !refused.some(({ item }) => item === index))).toEqual([]);
    expect(refused.filter(({ value, code }) => code !== (value === null ? "23502" : "23514"))).toEqual([]);
  });

  it("accepts the first and the last value of its range, and the list returns them", async () => {
    const brand = newId("brd");
    const good = trials(({ accepted }, { isNullable }) => [...accepted, ...(isNullable ? [null] : [])]);
    expect(await insertAll(resource, brand, good)).toEqual([]);
    const records = new Map((await served.list(brand, resource)).map((record) => [record.id, record as Record<string, unknown>]));
    for (const [index, { column, value }] of good.entries()) {
      const id = column === "id" ? String(value) : idOf(resource, index);
      expect({ [column]: records.get(id)?.[column] }).toEqual({ [column]: value });
    }
  });
});
