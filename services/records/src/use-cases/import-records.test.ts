import { RESOURCE_NAMES, RESOURCES } from "@brand-records/resources";
import { newId } from "@brand-records/ids";
import fc from "fast-check";
import { anyRecord } from "../../test/any-record.ts";
import { campaign, deposit, submission } from "../../test/sample-records.ts";
import { serveRecords, type ServedRecords } from "../../test/serve-records.ts";

let served: ServedRecords;
let brand: string;
beforeAll(async () => {
  served = await serveRecords();
});
beforeEach(() => {
  brand = newId("brd");
});
afterAll(() => served.stop());

const deposits = { resource: "deposits" };

describe("an import", () => {
  it("of valid lines is committed, counted and listed newest first", async () => {
    const lines = [1, 2, 3].map((day) => deposit({ created_at: `2026-11-0${day}T00:00:00.000Z` }));
    expect(await served.import(brand, lines, { ...deposits, chunkSize: 2 })).toEqual({
      summary: { lines: 3, inserted: 3, updated: 0, unchanged: 0, bad: 0, committed: true },
      problems: [],
      progress: [2, 3],
    });
    expect(await served.list(brand, "deposits")).toEqual(lines.toReversed());
  });

  it("of no lines is committed and changes nothing", async () => {
    const nothing = { lines: 0, inserted: 0, updated: 0, unchanged: 0, bad: 0 };
    expect((await served.import(brand, [], deposits)).summary).toEqual({ ...nothing, committed: true });
  });

  it("that is repeated reports every record as unchanged", async () => {
    const lines = [deposit(), deposit({ reference: null }), deposit({ reference: "x" })];
    await served.import(brand, lines, deposits);
    expect((await served.import(brand, lines, deposits)).summary).toMatchObject({ inserted: 0, updated: 0, unchanged: 3 });
  });

  it("updates records that differ, even from or to null, inserts new ones and leaves the others untouched", async () => {
    const [same, cleared, set] = [deposit(), deposit({ reference: "old" }), deposit({ reference: null, credited_at: null })];
    await served.import(brand, [same, cleared, set], deposits);
    const versionBefore = await rowVersion(same.id);
    const next = [same, { ...cleared, reference: null }, { ...set, status: "refunded" as const, credited_at: set.created_at }, deposit()];
    expect((await served.import(brand, next, deposits)).summary).toMatchObject({ inserted: 1, updated: 2, unchanged: 1 });
    expect(await rowVersion(same.id)).toBe(versionBefore);
    expect(await served.list(brand, "deposits")).toEqual(expect.arrayContaining(next));
  });

  it("reads a missing nullable field as null", async () => {
    const { reference: _, credited_at: __, campaign_id: ___, ...bare } = deposit();
    await served.import(brand, [bare], deposits);
    expect(await served.list(brand, "deposits")).toEqual([{ ...bare, reference: null, credited_at: null, campaign_id: null }]);
  });

  it("leaves another brand's record of the same id untouched", async () => {
    const other = newId("brd");
    const theirs = deposit({ reference: "theirs" });
    await served.import(other, [theirs], deposits);
    expect((await served.import(brand, [{ ...theirs, reference: "ours" }], deposits)).summary).toMatchObject({ inserted: 1 });
    expect(await served.list(other, "deposits")).toEqual([theirs]);
  });

  it("of the same records in two concurrent streams is committed in both, and every record is stored once", async () => {
    const lines = Array.from({ length: 300 }, () => deposit());
    const reversed = lines.toReversed().map((line) => ({ ...line, reference: "second" }));
    const both = await Promise.all([
      served.import(brand, lines, { ...deposits, chunkSize: 50 }),
      served.import(brand, reversed, { ...deposits, chunkSize: 50 }),
    ]);
    expect(both.map(({ summary }) => summary?.committed)).toEqual([true, true]);
    const rows = await served.db.query<{ count: number; references: string[] }>(
      "select count(*), array_agg(distinct reference) as references from records.deposits where brand_id = $1",
      [brand],
    );
    // All records are from the import that committed last.
    expect(rows).toEqual([{ count: 300, references: [expect.any(String)] }]);
  });

  it("stores a time that has an offset and microseconds as UTC with milliseconds", async () => {
    await served.import(brand, [{ ...deposit(), created_at: "2026-11-21T16:30:00.123456+08:00" }], deposits);
    expect(await served.list(brand, "deposits")).toMatchObject([{ created_at: "2026-11-21T08:30:00.123Z" }]);
  });
});

describe("bad lines", () => {
  it("prevent the whole import, and every problem is reported with its line and field", async () => {
    const good = deposit();
    const { summary, problems } = await served.import(
      brand,
      [good, { ...deposit(), status: "lost", amount_centavos: -1 }, "{", good],
      deposits,
    );
    expect(summary).toEqual({ lines: 4, inserted: 0, updated: 0, unchanged: 0, bad: 2, committed: false });
    expect(problems).toEqual([
      { line: 2, field: "status", message: "must be one of pending, succeeded, failed, expired, refunded" },
      { line: 2, field: "amount_centavos", message: "must not be negative" },
      { line: 3, field: null, message: "is not valid JSON" },
    ]);
    expect(await served.list(brand, "deposits")).toEqual([]);
  });

  it("are skipped with skip_bad, and the other lines are imported", async () => {
    const good = deposit();
    const { summary, problems } = await served.import(brand, ["[]", good, "no"], { ...deposits, skipBad: true });
    expect(summary).toEqual({ lines: 3, inserted: 1, updated: 0, unchanged: 0, bad: 2, committed: true });
    expect(problems.map(({ line }) => line)).toEqual([1, 3]);
    expect(await served.list(brand, "deposits")).toEqual([good]);
  });

  it("are numbered across the whole input, however it is split into messages", async () => {
    const lines = [deposit(), "", "{", deposit(), "}", deposit()];
    const { problems } = await served.import(brand, lines, { ...deposits, chunkSize: 2 });
    expect(problems.map(({ line }) => line)).toEqual([3, 5]);
  });

  it("are all counted; at most a thousand problems are sent", async () => {
    const { summary, problems } = await served.import(brand, Array.from({ length: 1_500 }).fill("{"), { ...deposits, chunkSize: 400 });
    expect(summary).toMatchObject({ lines: 1_500, bad: 1_500, committed: false });
    expect(problems).toHaveLength(1_000);
  });
});

describe("a created_at that would change", () => {
  it("is refused if an earlier import stored another one", async () => {
    const [stored, other] = [deposit(), deposit()];
    await served.import(brand, [stored], deposits);
    const lines = [other, { ...stored, created_at: "2026-11-21T08:30:00.001Z" }];
    const problem = { line: 2, field: "created_at", message: expect.stringContaining(stored.id) };
    expect(await served.import(brand, lines, deposits)).toMatchObject({ summary: { bad: 1, committed: false }, problems: [problem] });
    expect(await served.list(brand, "deposits")).toEqual([stored]);
    expect(await served.import(brand, lines, { ...deposits, skipBad: true })).toMatchObject({
      summary: { inserted: 1, updated: 0, bad: 1, committed: true },
      problems: [problem],
    });
    expect(await served.list(brand, "deposits")).toEqual(expect.arrayContaining([stored, other]));
  });

  it("is refused if an earlier line of the input has another one for the id", async () => {
    const first = deposit();
    const lines = [first, { ...first, created_at: "2027-01-01T00:00:00.000Z" }, { ...first, status: "refunded" as const }];
    expect(await served.import(brand, lines, { ...deposits, skipBad: true })).toMatchObject({
      summary: { lines: 3, inserted: 1, bad: 1, committed: true },
      problems: [{ line: 2, field: "created_at" }],
    });
    expect(await served.list(brand, "deposits")).toEqual([lines[2]]);
  });

  it("is compared with an earlier import before it is compared with earlier lines", async () => {
    const stored = deposit();
    await served.import(brand, [stored], deposits);
    const lines = [
      { ...stored, created_at: "2027-01-01T00:00:00.000Z" },
      { ...stored, status: "refunded" as const },
    ];
    expect(await served.import(brand, lines, { ...deposits, skipBad: true })).toMatchObject({
      summary: { updated: 1, bad: 1, committed: true },
      problems: [{ line: 1, field: "created_at" }],
    });
    expect(await served.list(brand, "deposits")).toEqual([lines[1]]);
  });

  it("does not mix two concurrent imports that disagree: both end, and all records have the created_at of one", async () => {
    const ids = Array.from({ length: 50 }, () => newId("dep"));
    const depositsAt = (created_at: string) => ids.map((id) => deposit({ id, created_at }));
    await Promise.allSettled([
      served.import(brand, depositsAt("2026-01-01T00:00:00.000Z"), deposits),
      served.import(brand, depositsAt("2026-02-01T00:00:00.000Z"), deposits),
    ]);
    const records = await served.list(brand, "deposits");
    expect(records).toHaveLength(50);
    expect(new Set(records.map(({ created_at }) => created_at)).size).toBe(1);
  });
});

it("of several lines with one id the last one counts, and they count as one record", async () => {
  const id = newId("dep");
  const lines = ["pending", "failed", "succeeded"].map((status) => deposit({ id, status: status as "pending" }));
  expect((await served.import(brand, lines, { ...deposits, chunkSize: 1 })).summary).toMatchObject({ lines: 3, inserted: 1 });
  expect(await served.list(brand, "deposits")).toEqual([lines[2]]);
});

it("blank lines are counted and ignored; a line may end in CRLF", async () => {
  const [first, last] = [deposit(), deposit()];
  const lines = ["", `${JSON.stringify(first)}\r`, "  \t", "\r", JSON.stringify(last)];
  expect((await served.import(brand, lines, deposits)).summary).toMatchObject({ lines: 5, inserted: 2, bad: 0 });
});

const WHOLE = "must be a whole number";
const STORABLE = "must not contain NUL or lone surrogates";
const TIME_RULE = "must be an RFC 3339 time with an offset, from 2000 to 9999, such as 2026-11-21T08:30:00Z";
const URL_RULE = "must have a host and no user name, password, blanks or control characters";
const DEEP = "[".repeat(100_000) + "]".repeat(100_000);

/** Lines, each with what is reported of it. */
const NO_RECORDS: [line: unknown, field: string | null, message: string][] = [
  ["{'id': 1}", null, "is not valid JSON"],
  [JSON.stringify(deposit()).slice(0, -1), null, "is not valid JSON"],
  ...[[deposit()], '"dep_1"', null, DEEP].map((line): (typeof NO_RECORDS)[number] => [line, null, "must be a JSON object"]),
  [" ".repeat(1024 * 1024) + "1", null, "is longer than 1 MiB"],
  [JSON.stringify(deposit()).replace("500000", "1e999"), "amount_centavos", WHOLE],
  [{ ...deposit(), brand_id: "brd_other" }, "brand_id", "is not a field of deposits"],
];

const WRONG_VALUES: [field: string, value: unknown, message: string][] = [
  ["amount_centavos", undefined, "is missing"],
  ["currency", undefined, "is missing"],
  ...["5", null, 0.5].map((value): (typeof WRONG_VALUES)[number] => ["amount_centavos", value, WHOLE]),
  ["amount_centavos", -1, "must not be negative"],
  ["amount_centavos", 2 ** 53, "must be at most 9007199254740991"],
  ["reference", 5, "must be a string"],
  ["reference", "a\u0000b", STORABLE],
  ["reference", "\ud800", STORABLE],
  ["reference", "", "must not be empty"],
  ["reference", "x".repeat(201), "must be at most 200 characters"],
  ["id", "cmp_1", "must be dep_ and 1 to 40 lower-case letters or digits"],
  ["currency", "USD", "must be PHP"],
  ...[
    "2026-11-21T08:30:00",
    "2026-02-30T08:30:00Z",
    "1999-12-31T23:59:59.999Z",
    "9999-12-31T23:59:59-01:00",
    "20000-01-01T00:00:00Z",
    "infinity",
  ].map((value): (typeof WRONG_VALUES)[number] => ["credited_at", value, TIME_RULE]),
];

describe("each wrong line is reported with its number, its field and its rule", () => {
  it.each([
    ["what is no record", NO_RECORDS],
    ["a wrong value", WRONG_VALUES.map(([field, value, rule]) => [{ ...deposit(), [field]: value }, field, rule])],
  ])("%s", async (_, wrong) => {
    const { summary, problems } = await served.import(
      brand,
      wrong.map(([line]) => line),
      deposits,
    );
    expect(problems).toEqual(wrong.map(([, field, message], index) => ({ line: index + 1, field, message })));
    expect(summary).toMatchObject({ lines: wrong.length, bad: wrong.length, committed: false });
  });

  it("a URL of another scheme, without a host, with credentials, or with characters that no URL has", async () => {
    const wrong = [
      ["javascript:alert(1)", "must be an http or https URL"],
      ["data:text/html,x", "must be an http or https URL"],
      ["https://user:pw@video.example/1", URL_RULE],
      ["https://@video.example/1", URL_RULE],
      ["https:///video.example/1", URL_RULE],
      ["https://video.example/a b", URL_RULE],
      ["https://video.example/\u0085", URL_RULE],
      ["https://video.example/\udc00", STORABLE],
    ];
    const lines = wrong.map(([content_url]) => ({ ...submission(), content_url }));
    const { problems } = await served.import(brand, lines, { resource: "submissions" });
    expect(problems).toEqual(wrong.map(([, message], index) => ({ line: index + 1, field: "content_url", message })));
  });

  it("an array of another type, or with elements of one", async () => {
    const lines = [["tiktok", 5], "tiktok"].map((platforms) => ({ ...campaign(), platforms }));
    expect((await served.import(brand, lines, { resource: "campaigns" })).problems).toEqual([
      { line: 1, field: "platforms.1", message: "must be a string" },
      { line: 2, field: "platforms", message: "must be an array" },
    ]);
  });

  it("several wrong fields, and all of them are named", async () => {
    const { problems } = await served.import(brand, [{ id: "dep_1", created_at: "today", colour: "violet" }], deposits);
    expect(new Set(problems.map(({ field }) => field))).toEqual(
      new Set(["amount_centavos", "colour", "created_at", "currency", "method", "refunded_centavos", "status", "updated_at"]),
    );
  });
});

it.each(RESOURCE_NAMES)("any valid records of %s are listed exactly as imported, whatever their texts contain", async (resource) => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(anyRecord[resource], { selector: ({ id }) => id, minLength: 1, maxLength: 40 }), async (records) => {
      const newBrand = newId("brd");
      const { summary, problems } = await served.import(newBrand, records, { resource });
      expect(problems).toEqual([]);
      expect(summary).toMatchObject({ inserted: records.length, committed: true });
      const byId = Object.fromEntries(records.map((record) => [record.id, RESOURCES[resource].schema.parse(record)]));
      expect(Object.fromEntries((await served.list(newBrand, resource)).map((record) => [record.id, record]))).toEqual(byId);
      expect((await served.import(newBrand, records, { resource })).summary).toMatchObject({ unchanged: records.length });
    }),
    { numRuns: 10 },
  );
});

/** Returns a value that changes with every write of the row. */
async function rowVersion(id: string): Promise<string | undefined> {
  const [row] = await served.db.query<{ version: string }>(
    "select xmin::text || ctid::text as version from records.deposits where id = $1",
    [id],
  );
  return row?.version;
}
