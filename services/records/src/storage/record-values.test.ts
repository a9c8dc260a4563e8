import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate, openPool } from "@brand-records/postgres";
import { RESOURCE_NAMES, type ResourceName } from "@brand-records/resources";
import { createDatabase } from "@brand-records/testkit";
import { newId } from "@brand-records/typeid";
import { sampleRecord } from "../../test/any-record.ts";
import { serveRecords, type ServedRecords } from "../../test/serve-records.ts";

/** What one statement of the platform may put into a column, so that no value breaks the pages that hold it. */

const MIGRATIONS = join(import.meta.dirname, "../../migrations");

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

interface Column {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
}

const columnsOf = (resource: ResourceName): Promise<Column[]> =>
  served.db.query<Column>(
    `select column_name as name, data_type as type, is_nullable = 'YES' as nullable from information_schema.columns
      where table_schema = 'records' and table_name = $1 and column_name <> 'brand_id' order by ordinal_position`,
    [resource],
  );

/** A valid record but for one of its values. */
interface Trial {
  readonly column: string;
  readonly value: unknown;
}

/** Inserts a record for each trial. Resolves to those that were refused, with the SQLSTATE. */
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

const idOf = (resource: ResourceName, index: number): string => `${OWN_PREFIXES[resource]}_${index}`;

interface Values {
  readonly refused: readonly unknown[];
  readonly accepted: readonly unknown[];
}

const AMOUNTS: Values = {
  refused: ["-1", "9007199254740992", "9007199254740993", "9223372036854775807", "-9223372036854775808"],
  accepted: [0, Number.MAX_SAFE_INTEGER],
};
const COUNTS: Values = { refused: ["-1"], accepted: [0, 2_147_483_647] };
const BASIS_POINTS: Values = { refused: ["-1", "10001"], accepted: [0, 10_000] };
const TIMES: Values = {
  refused: [
    "infinity",
    "-infinity",
    "20000-01-01 00:00:00+00",
    "294276-12-31 23:59:59+00",
    "10000-01-01 00:00:00+00",
    // Rounded to milliseconds before it is looked at.
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
const ids = (prefix: string): Values => ({
  refused: ["", "x", `${prefix}_`, `${prefix}_A`, `${prefix}_${"0".repeat(41)}`, `${prefix}_1\n`],
  accepted: [`${prefix}_0`, `${prefix}_${"z".repeat(40)}`],
});
const texts = (max: number): Values => ({ refused: ["", "x".repeat(max + 1)], accepted: ["x", "ぁ".repeat(max)] });

/** Those with a list of values of their own are in the transitions' and the schema's tests. */
const ENUMERATED = /^(status|type|method|currency|rejection_code|failure_code|reversal_code)$/;
const PREFIXES: Partial<Record<string, string>> = {
  campaign_id: "cmp",
  creator_id: "crt",
  link_id: "lnk",
  payout_id: "po",
  plan_id: "pln",
};
const OWN_PREFIXES: Record<ResourceName, string> = {
  campaigns: "cmp",
  submissions: "sub",
  payouts: "po",
  deposits: "dep",
  conversions: "cnv",
  links: "lnk",
};
const LENGTHS: Partial<Record<string, number>> = { title: 200, platform: 64, reference: 200, external_id: 200, code: 64 };

/** What a column of this name and type must refuse and accept; undefined for a column that nobody has thought about. */
function valuesOf(resource: ResourceName, { name, type }: Column): Values | undefined {
  if (type === "bigint") return AMOUNTS;
  if (type === "integer") return name === "commission_bps" ? BASIS_POINTS : COUNTS;
  if (type === "timestamp with time zone") return TIMES;
  if (name === "platforms") return PLATFORMS;
  if (ENUMERATED.test(name)) return { refused: ["", "other things"], accepted: [] };
  if (name.endsWith("url")) return URLS;
  const prefix = name === "id" ? OWN_PREFIXES[resource] : PREFIXES[name];
  if (prefix !== undefined) return ids(prefix);
  const length = LENGTHS[name];
  return length === undefined ? undefined : texts(length);
}

describe.each(RESOURCE_NAMES)("every column of %s", (resource) => {
  const trialsOf = async (choose: (values: Values, column: Column) => readonly unknown[]): Promise<Trial[]> => {
    const columns = await columnsOf(resource);
    return columns.flatMap((column) => {
      const values = valuesOf(resource, column);
      if (values === undefined) throw new Error(`${column.name}: which values does it take?`);
      return choose(values, column).map((value) => ({ column: column.name, value }));
    });
  };

  it("refuses the values that the API could not serve, at the write", async () => {
    const trials = await trialsOf(({ refused }) => refused);
    const refused = await insertAll(resource, newId("brd"), trials);
    const taken = trials.filter((_, index) => !refused.some(({ item }) => item === index));
    expect(taken).toEqual([]);
    expect(refused.filter(({ code }) => code !== "23514")).toEqual([]);
  });

  it("takes the first and the last value of its range, and the list shows them", async () => {
    const brand = newId("brd");
    const trials = await trialsOf(({ accepted }, { nullable }) => [...accepted, ...(nullable ? [null] : [])]);
    expect(await insertAll(resource, brand, trials)).toEqual([]);
    const records = new Map((await served.list(brand, resource)).map((record) => [record.id, record as Record<string, unknown>]));
    for (const [index, { column, value }] of trials.entries()) {
      const id = column === "id" ? String(value) : idOf(resource, index);
      expect({ [column]: records.get(id)?.[column] }).toEqual({ [column]: value });
    }
  });
});

describe("tables that hold such values already", () => {
  /** A database as the release before the constraints left it. */
  async function earlier(): Promise<{ url: string; folder: string; upgrade(): Promise<string[]>; stop(): Promise<void> }> {
    const database = await createDatabase("empty");
    const folder = await mkdtemp(join(tmpdir(), "records-migrations-"));
    const names = (await readdir(MIGRATIONS)).toSorted();
    for (const name of names.slice(0, 2)) await cp(join(MIGRATIONS, name), join(folder, name));
    await migrate({ url: database.url, schema: "records", directory: folder });
    const stop = async (): Promise<void> => {
      await database.drop();
      await rm(folder, { recursive: true });
    };
    return { url: database.url, folder, upgrade: () => migrate({ url: database.url, schema: "records", directory: MIGRATIONS }), stop };
  }

  it("keep the service from starting with the tables, columns and ids of the rows; once they are repaired it starts", async () => {
    const { url, upgrade, stop } = await earlier();
    const db = openPool({ url, max: 1, applicationName: "record values test" });
    const payouts = (id: string, amount: string, paidAt: string): Promise<unknown> =>
      db.query(
        `insert into records.payouts values ('brd_1', $1, '2026-01-01 00:00:00+00', '2026-01-01 00:00:00+00', 'cmp_1', 'crt_1', 'paid', $2, 0, 'PHP',
           1, 0, null, '2026-01-01 00:00:00+00', $3)`,
        [id, amount, paidAt],
      );
    await payouts("po_fine", "9007199254740991", "2026-01-02 00:00:00+00");
    await payouts("po_much", "9007199254740992", "2026-01-02 00:00:00+00");
    await payouts("po_late", "1", "infinity");
    const refused = await upgrade().then(
      () => "",
      (error: Error) => error.message,
    );
    expect(refused).toContain("payouts.amount_centavos: brd_1 po_much");
    expect(refused).toContain("payouts.paid_at: brd_1 po_late");
    expect(refused).not.toContain("po_fine");
    expect(refused).toContain("docs/platform.md");
    // What comes now is refused all the same.
    await expect(payouts("po_more", "9007199254740992", "2026-01-02 00:00:00+00")).rejects.toMatchObject({ code: "23514" });
    await db.query("update records.payouts set amount_centavos = 1, paid_at = '2026-01-02 00:00:00+00' where id <> 'po_fine'");
    expect(await upgrade()).toHaveLength(1);
    await db.stop();
    await stop();
  });
});
