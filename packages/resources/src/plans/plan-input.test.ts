import { AppError, type ProblemDetail } from "@brand-records/errors";
import fc from "fast-check";
import { CAMPAIGN_TYPES, parsePlanInput, type PlanInput } from "../index.ts";
import { isCalendarDate } from "./field-schemas.ts";

const REQUIRED: PlanInput = {
  request_id: "0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11",
  title: "Summer launch",
  goal: "Reach a million views",
  campaign_type: "blitz",
  planned_for: "2026-12-01",
  review_on: "2026-11-20",
  planning_budget: 25_000,
};
const FULL: PlanInput = {
  ...REQUIRED,
  summary: "Clips of the launch",
  brief: "Show the product within three seconds",
  requirements: ["vertical video", "captions"],
  platforms: ["tiktok", "instagram"],
  notes: "Our ceiling is twice that",
};
const REQUIRED_FIELDS = Object.keys(REQUIRED);
const OPTIONAL_FIELDS = ["summary", "brief", "requirements", "platforms", "notes"];
/** Characters of a text at most. */
const TEXTS = { title: 200, goal: 2_000, summary: 2_000, brief: 20_000, notes: 5_000 };
/** Entries of a list, and characters of an entry, at most. */
const LISTS = { requirements: [50, 500], platforms: [20, 64] } as const;
/** Optional, and not limited to one line. */
const FREE_TEXT_FIELDS = ["summary", "brief", "notes"];
const DATES = ["planned_for", "review_on"];
const EMOJI = "😀";

function refusalOf(given: unknown): AppError {
  try {
    parsePlanInput(given);
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ kind: "invalid_request" });
    return error as AppError;
  }
  throw new Error("the input was accepted");
}

const problemsOf = (given: unknown): readonly ProblemDetail[] => refusalOf(given).details ?? [];
const invalidFields = (given: unknown): string[] => [...new Set(problemsOf(given).map(({ field }) => field))];
const planWith = (more: object): unknown => ({ ...FULL, ...more });
/** Parses as a request is parsed: `__proto__` is a field like any other. */
const fromJson = (json: string): unknown => JSON.parse(json);
const times = (count: number, entry: string): string[] => Array.from({ length: count }, () => entry);

/** Compatibility forms and decomposed letters: text is not normalised. */
const ANY_TEXTS = ["caf\u00E9", "cafe\u0301", "\uFB01", "\u212B", "😀", "👨‍👩‍👧", "𠜎", "\u{10FFFF}", "\uFFFE"];
const UNSEEN = ["\u0001", "\u007F", "\u202E", " two  spaces ", "\ttab\r\nand lines\n", " ", "\u00A0\u200B\uFEFF"];
const INVISIBLE = [" ", "\u2003\u3000", "\u200B", "\u202E\u202C", "\u2028", "\u3164", "\u2800", "\uFE0F", "\u{E0020}"];
const CONTROLS = ["\u0001", "\t", "\n", "\u007F", "\u0085", "\u009F"];

it.each<[string, unknown[]]>([
  ...Object.entries(TEXTS).map(([field, max]): [string, unknown[]] => [field, ["x", "x".repeat(max), EMOJI.repeat(max), ...ANY_TEXTS]]),
  ...FREE_TEXT_FIELDS.map((field): [string, unknown[]] => [field, UNSEEN]),
  ...Object.entries(LISTS).map(([field, [entries, characters]]): [string, unknown[]] => [
    field,
    [["x"], times(entries, "x"), times(entries, "x".repeat(characters)), [EMOJI.repeat(characters)], ["b", "a", "", "b", " a "], ANY_TEXTS],
  ]),
  ["requirements", UNSEEN.map((text) => [text])],
  // 200 letters, each of one character: composed.
  ["title", ["é".repeat(200), " two  spaces ", ...INVISIBLE.flatMap((text) => [`a${text}`, `${text}😀`, `${text}.`])]],
  ["goal", [" two  spaces ", "\ttab\r\nand lines\n", ...CONTROLS.map((control) => `a${control}b`)]],
  ["goal", INVISIBLE.flatMap((text) => [`a${text}`, `${text}😀`, `${text}.`])],
  ...DATES.map((field): [string, unknown[]] => [field, ["2024-02-29", "1999-01-31", "0001-01-01", "9999-12-31"]]),
  // Before, on and after the day that is planned.
  ["review_on", ["2026-11-20", "2026-12-01", "2026-12-20"]],
  ["planning_budget", [0.01, 0.1, 0.29, 1.1, 5, 5.1, 19.99, 1_234_567.89, 999_999_999.99, 1_000_000_000]],
  [
    "request_id",
    [
      "0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11",
      "017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
      "0b6c2f5e-4a2b-0f0e-9a53-2f5a3d1c7e11",
      "0b6c2f5e-4a2b-ff0e-9a53-2f5a3d1c7e11",
      // The reserved variant.
      "0b6c2f5e-4a2b-4f0e-fa53-2f5a3d1c7e11",
      "ffffffff-ffff-ffff-ffff-fffffffffffe",
    ],
  ],
])("takes %s as it is (%#)", (field, values) => {
  for (const value of values) expect(parsePlanInput(planWith({ [field]: value }))).toMatchObject({ [field]: value });
});

const NO_DAYS = ["2026-13-01", "12026-02-03", "20260203", "2026-02-03\n", " 2026-02-03 ", "２０２６-０２-０３"];
const UNSTORABLE = ["a\0b", "a\uD83D", "\uDE00b", "\uDE00\uD83D"];
const UNSTORABLE_PROBLEM = "must not contain NUL or lone surrogates";
const INVISIBLE_PROBLEM = "must contain at least one visible character";
const CONTROL_PROBLEM = "must not contain control characters such as line breaks";
const tooLong = (max: number): string => `must be at most ${max.toLocaleString("en")} characters`;

it.each<[named: string, message: string, values: unknown[]]>([
  [
    "campaign_type",
    "must be one of blitz, ugc, package, affiliate",
    ["Blitz", " blitz", "clipping", "toString", "__proto__", 1, ["blitz"]],
  ],
  ...Object.entries(TEXTS).flatMap(([field, max]): [string, string, unknown[]][] => [
    [field, tooLong(max), ["x".repeat(max + 1), EMOJI.repeat(max + 1), `${EMOJI.repeat(max)}x`]],
    [field, UNSTORABLE_PROBLEM, UNSTORABLE],
    [field, "must be text", [1, true, {}, ["text"]]],
  ]),
  // A letter and its combining accent are two characters.
  ["title", tooLong(200), [`${"e".repeat(200)}\u0301`]],
  ["title", INVISIBLE_PROBLEM, INVISIBLE],
  ["goal", INVISIBLE_PROBLEM, INVISIBLE],
  ["title", CONTROL_PROBLEM, CONTROLS.flatMap((control) => [control, `a${control}b`])],
  ["platforms[1]", CONTROL_PROBLEM, CONTROLS.map((control) => ["tiktok", `a${control}b`])],
  ...Object.entries(LISTS).flatMap(([field, [entries, characters]]): [string, string, unknown[]][] => [
    [field, `must have 1 to ${entries} entries`, [times(entries + 1, "x")]],
    [`${field}[1]`, tooLong(characters), ["x", EMOJI].map((text) => ["x", text.repeat(characters + 1)])],
    [`${field}[1]`, UNSTORABLE_PROBLEM, UNSTORABLE.map((text) => ["fine", text])],
    [field, "must be a list of text entries", ["tiktok", { 0: "tiktok", length: 1 }, 1, true]],
  ]),
  ...DATES.flatMap((field): [string, string, unknown[]][] => [
    [
      field,
      "must be a real date as YYYY-MM-DD, such as 2026-12-31",
      ["2026-02-30", "2023-02-29", "2026-2-3", "0000-01-01", "2026-12-01T00:00:00Z", "2026-12-01 ", "tomorrow", ...NO_DAYS, ...UNSTORABLE],
    ],
    [field, "must be a date as YYYY-MM-DD, as text", [20_261_201, 0, true, ["2026-12-01"], {}]],
  ]),
  [
    "planning_budget",
    "must be a number of pesos above 0 and at most 1,000,000,000, with at most two decimals",
    [0, -0, -1, 0.001, 0.1 + 0.2, 19.999, 1_000_000_000.001, 1_000_000_001, Number.MIN_VALUE, Number.NaN, fromJson("1e400")],
  ],
  [
    "planning_budget",
    "must be a JSON number without quotes or commas, such as 250000",
    ["5", "5 PHP", "250,000", "", null, true, [5], {}, 5n],
  ],
  [
    "request_id",
    "must be a UUID, 8-4-4-4-12 hexadecimal digits, made at random for this plan",
    [
      "{0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11}",
      "urn:uuid:0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11",
      "0b6c2f5e4a2b4f0e9a532f5a3d1c7e11",
      " 0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11 ",
      "0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11\n",
      "0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e1",
      "pln_01h455vb4pex5vsknk084sn02q",
      ...UNSTORABLE,
    ],
  ],
  [
    "request_id",
    "must not be the nil or the max UUID",
    [0, "f"].map((digit) => REQUIRED.request_id.replaceAll(/[0-9a-f]/g, String(digit))),
  ],
])("%s %s (%#)", (named, message, values) => {
  const [field = ""] = named.split("[");
  for (const value of values) expect([value, problemsOf(planWith({ [field]: value }))]).toEqual([value, [{ field: named, message }]]);
});

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
const daysIn = (year: number, month: number): number => (MONTH_DAYS[month - 1] ?? 0) + (month === 2 && isLeap(year) ? 1 : 0);
const dateText = (year: number, month: number, day: number): string =>
  [String(year).padStart(4, "0"), String(month).padStart(2, "0"), String(day).padStart(2, "0")].join("-");

it("a date is any day of the calendar, from year 1 to 9999", () => {
  fc.assert(
    fc.property(fc.nat(9_999), fc.nat(14), fc.nat(33), (year, month, day) => {
      const exists = year >= 1 && day >= 1 && day <= daysIn(year, month);
      expect(isCalendarDate(dateText(year, month, day))).toBe(exists);
    }),
    { numRuns: 2_000 },
  );
});

it("reports every entry of a list that is not text", () => {
  for (const field of Object.keys(LISTS))
    expect(invalidFields(planWith({ [field]: ["x", null, 1, ["x"], {}, "y"] }))).toEqual([1, 2, 3, 4].map((at) => `${field}[${at}]`));
});

it("returns the request_id in lower case", () => {
  for (const request_id of ["0B6C2F5E-4A2B-4F0E-9A53-2F5A3D1C7E11", "0B6c2f5E-4a2b-4F0e-9A53-2f5a3D1c7e11"])
    expect(parsePlanInput(planWith({ request_id }))).toStrictEqual(FULL);
});

it.each(OPTIONAL_FIELDS)("%s is left out by null, an empty text, undefined or being absent, and by nothing else", (field) => {
  const { [field as "notes"]: _, ...without } = FULL;
  const empty = Object.hasOwn(LISTS, field) ? [null, "", undefined, []] : [null, "", undefined];
  for (const given of [without, ...empty.map((nothing) => planWith({ [field]: nothing }))])
    expect(parsePlanInput(given)).toStrictEqual(without);
  for (const nothing of [0, false, {}]) expect(invalidFields(planWith({ [field]: nothing }))).toEqual([field]);
});

it.each(REQUIRED_FIELDS)("%s is required, and refused as null and as an empty text", (field) => {
  const { [field as "title"]: _, ...without } = FULL;
  expect(problemsOf(without)).toEqual([{ field, message: "is required" }]);
  for (const nothing of [null, ""])
    expect(problemsOf(planWith({ [field]: nothing }))).toEqual([{ field, message: expect.stringMatching(/^must /) }]);
});

describe("an unknown field", () => {
  it.each(["brand_id", "status", "plan_id", "Title", "title ", "constructor", "toString", "hasOwnProperty", "length", "0", ""])(
    "is refused and named: %j",
    (name) => {
      expect(problemsOf(planWith({ [name]: "x" }))).toEqual([
        { field: name, message: expect.stringContaining("is not a field of a plan") },
      ]);
    },
  );

  it("is refused as __proto__, which changes no prototype", () => {
    const given = fromJson(JSON.stringify(FULL).replace("{", '{"__proto__":{"title":"injected","polluted":true},'));
    expect(invalidFields(given)).toEqual(["__proto__"]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("is not read from an object's prototype", () => {
    const { title, ...rest } = FULL;
    const inheriting: unknown = Object.assign(Object.create({ title }) as object, rest);
    expect(problemsOf(inheriting)).toEqual([{ field: "title", message: "is required" }]);
    expect(invalidFields(fromJson('{"__proto__":{}}'))).toEqual([...REQUIRED_FIELDS, "__proto__"]);
  });

  it("may have any name: the error stays short and well-formed", () => {
    for (const name of ["x".repeat(100_000), "\0", "\uD83D", `${"x".repeat(63)}${EMOJI}`]) {
      const { message, field = "", details = [] } = refusalOf(planWith({ [name]: 1 }));
      expect(details).toHaveLength(1);
      expect(field.length).toBeLessThanOrEqual(64);
      for (const text of [message, field, details[0]?.field]) expect(text?.isWellFormed()).toBe(true);
      expect(message.length).toBeLessThan(400);
    }
  });

  it("may come by the thousand: the error stays bounded, and only as many are looked at", () => {
    let looks = 0;
    const names = Array.from({ length: 20_000 }, (_, i) => `${i} ${"x".repeat(100)}`);
    const many = planWith({ title: 1, ...Object.fromEntries(names.map((name) => [name, 1])) }) as object;
    const counting = new Proxy(many, { get: (target, name) => ((looks += 1), Reflect.get(target, name) as unknown) });
    const { message, details } = refusalOf(counting);
    expect(looks).toBeLessThan(100);
    expect(message).toContain("more than 30 problems in all");
    expect(details?.[0]).toEqual({ field: "title", message: "must be text" });
    expect(details).toHaveLength(30);
    expect(JSON.stringify(details).length).toBeLessThan(16 * 1024);
  });
});

it.each([
  ["a list", [FULL]],
  ["a text", JSON.stringify(FULL)],
  ["an empty text", ""],
  ["null", null],
  ["a number", 1],
  ["true", true],
])("refuses %s in place of a plan", (_, given) => {
  expect(refusalOf(given)).toMatchObject({ message: "The plan must be one JSON object.", details: undefined });
});

describe("the error for an invalid plan", () => {
  it("lists every problem, each with its field and its rule", () => {
    const invalid = {
      request_id: "1",
      title: "",
      goal: 7,
      campaign_type: "clips",
      planned_for: "soon",
      review_on: null,
      planning_budget: "5",
      summary: ["x"],
      brief: "x".repeat(20_001),
      requirements: "x",
      platforms: ["x", "x".repeat(65), 3],
      notes: "\0",
      budget: 5,
    };
    const { message, field, details } = refusalOf(invalid);
    expect(details?.map((problem) => problem.field)).toEqual([
      ...REQUIRED_FIELDS,
      "summary",
      "brief",
      "requirements",
      "platforms[1]",
      "platforms[2]",
      "notes",
      "budget",
    ]);
    for (const problem of details ?? []) expect(problem.message).toMatch(/^(must|is not a field) .{5,}/);
    expect(field).toBe("request_id");
    expect(message).toBe(`request_id ${details?.[0]?.message} (14 problems in all, see details)`);
  });

  it("does not repeat values of the plan", () => {
    const secret = "do-not-repeat";
    const { message, details } = refusalOf({
      request_id: secret,
      title: `${secret}\0`,
      goal: [secret],
      campaign_type: secret,
      planned_for: secret,
      planning_budget: secret,
      platforms: [secret.repeat(10)],
      notes: { secret },
      secrets: secret,
    });
    expect(message + JSON.stringify(details)).not.toContain(secret);
  });

  it("leaves the input unchanged", () => {
    const given = Object.freeze({ ...FULL, request_id: FULL.request_id.toUpperCase(), notes: null });
    parsePlanInput(given);
    expect(given).toStrictEqual({ ...FULL, request_id: FULL.request_id.toUpperCase(), notes: null });
  });
});

describe("any accepted plan", () => {
  const textOf = (minLength: number, maxLength: number) =>
    fc.string({ unit: "binary", minLength, maxLength, size: "max" }).map((text) => text.replaceAll("\0", "0"));
  const lineOf = (minLength: number, maxLength: number) => textOf(minLength, maxLength).map((text) => text.replaceAll(/\p{Cc}/gu, "0"));
  const visible = (text: string) => /[^\p{White_Space}\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text);
  const date = fc
    .date({ min: new Date("0001-01-01"), max: new Date("9999-12-31"), noInvalidDate: true })
    .map((day) => day.toISOString().slice(0, 10));
  const uuid = fc.oneof(
    fc.uuid(),
    fc.uuid().map((id) => id.toUpperCase()),
  );
  const empty = fc.constantFrom(null, "");
  const plan = fc.record(
    {
      request_id: uuid,
      title: lineOf(1, 200).filter(visible),
      goal: textOf(1, 300).filter(visible),
      campaign_type: fc.constantFrom(...CAMPAIGN_TYPES),
      planned_for: date,
      review_on: date,
      planning_budget: fc.integer({ min: 1, max: 100_000_000_000 }).map((centavos) => centavos / 100),
      summary: fc.oneof(textOf(0, 300), empty),
      brief: fc.oneof(textOf(0, 300), empty),
      requirements: fc.oneof(fc.array(textOf(0, 100), { minLength: 1, maxLength: 50 }), empty),
      platforms: fc.oneof(fc.array(lineOf(0, 64), { minLength: 1, maxLength: 20 }), empty),
      notes: fc.oneof(textOf(0, 300), empty),
    },
    { requiredKeys: ["request_id", "title", "goal", "campaign_type", "planned_for", "review_on", "planning_budget"] },
  );

  it("is returned unchanged, except for the case of its request_id and empty fields", () => {
    fc.assert(
      fc.property(plan, (given) => {
        const present = Object.entries(given).filter(([, value]) => value !== null && value !== "");
        expect(parsePlanInput(given)).toStrictEqual({ ...Object.fromEntries(present), request_id: given.request_id.toLowerCase() });
      }),
    );
  });

  it("is a fixed point: parsing it again, even from JSON, changes nothing", () => {
    fc.assert(
      fc.property(plan, (given) => {
        const once = parsePlanInput(given);
        expect(parsePlanInput(once)).toStrictEqual(once);
        expect(parsePlanInput(fromJson(JSON.stringify(once)))).toStrictEqual(once);
      }),
    );
  });
});

it("returns a plan or throws invalid_request for any JSON value", () => {
  const invalidValue = fc.record({ field: fc.constantFrom(...REQUIRED_FIELDS, ...OPTIONAL_FIELDS), value: fc.jsonValue() });
  const given = fc.oneof(
    fc.jsonValue(),
    invalidValue.map(({ field, value }) => planWith({ [field]: value })),
  );
  fc.assert(
    fc.property(given, (input) => {
      try {
        parsePlanInput(input);
      } catch (error) {
        expect(error).toBeInstanceOf(AppError);
        expect(error).toMatchObject({ kind: "invalid_request" });
      }
    }),
    { numRuns: 1_000 },
  );
});
