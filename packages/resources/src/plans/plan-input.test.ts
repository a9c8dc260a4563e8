import { AppError, type ProblemDetail } from "@brand-records/errors";
import fc from "fast-check";
import { CAMPAIGN_TYPES, parsePlanInput, type PlanInput } from "../index.ts";

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
const TEXT_FIELDS = ["title", "goal", "summary", "brief", "notes"];
/** Optional, and not limited to one line. */
const FREE_TEXT_FIELDS = ["summary", "brief", "notes"];
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

it.each(["Blitz", " blitz", "clipping", "toString", "__proto__", 1, ["blitz"]])("refuses the campaign type %j", (campaign_type) => {
  expect(problemsOf(planWith({ campaign_type }))).toEqual([
    { field: "campaign_type", message: "must be one of blitz, ugc, package, affiliate" },
  ]);
});

describe("the length of a text", () => {
  const LIMITS: [string, number][] = [
    ["title", 200],
    ["goal", 2_000],
    ["summary", 2_000],
    ["brief", 20_000],
    ["notes", 5_000],
  ];

  it.each(LIMITS)("of %s is at least 1 and at most %i characters", (field, max) => {
    for (const text of ["x", "x".repeat(max)]) expect(parsePlanInput(planWith({ [field]: text }))).toMatchObject({ [field]: text });
    expect(problemsOf(planWith({ [field]: "x".repeat(max + 1) }))).toEqual([
      { field, message: `must be at most ${max.toLocaleString("en")} characters` },
    ]);
  });

  it.each(LIMITS)("of %s counts Unicode characters: %i emoji fit, one more does not", (field, max) => {
    expect(parsePlanInput(planWith({ [field]: EMOJI.repeat(max) }))).toMatchObject({ [field]: EMOJI.repeat(max) });
    expect(invalidFields(planWith({ [field]: EMOJI.repeat(max) + EMOJI }))).toEqual([field]);
    expect(invalidFields(planWith({ [field]: `${EMOJI.repeat(max)}x` }))).toEqual([field]);
  });

  it("counts decomposed characters: 200 letters and a combining accent are 201", () => {
    expect(parsePlanInput(planWith({ title: "é".repeat(200) }))).toMatchObject({ title: "é".repeat(200) });
    expect(invalidFields(planWith({ title: `${"e".repeat(200)}\u0301` }))).toEqual(["title"]);
  });
});

describe.each([
  ["requirements", 50, 500],
  ["platforms", 20, 64],
])("the list %s", (field, entriesMax, charactersMax) => {
  const entries = (count: number, entry = "x"): string[] => Array.from({ length: count }, () => entry);

  it("accepts from one entry to its maximum, each up to the maximum length", () => {
    for (const list of [["x"], entries(entriesMax), entries(entriesMax, "x".repeat(charactersMax)), [EMOJI.repeat(charactersMax)]]) {
      expect(parsePlanInput(planWith({ [field]: list }))).toMatchObject({ [field]: list });
    }
  });

  it("is left out when empty, so that a repeat with and without it is the same", () => {
    expect(parsePlanInput(planWith({ [field]: [] }))).toEqual(parsePlanInput(planWith({ [field]: null })));
  });

  it("is refused with one entry too many", () => {
    expect(problemsOf(planWith({ [field]: entries(entriesMax + 1) }))).toEqual([
      { field, message: `must have 1 to ${entriesMax} entries` },
    ]);
  });

  it("is refused with an entry that is too long, which the error names", () => {
    for (const long of ["x".repeat(charactersMax + 1), EMOJI.repeat(charactersMax + 1)]) {
      expect(problemsOf(planWith({ [field]: ["x", long] }))).toEqual([
        { field: `${field}[1]`, message: `must be at most ${charactersMax} characters` },
      ]);
    }
  });

  it("keeps order, duplicates and empty entries", () => {
    const list = ["b", "a", "", "b", " a "];
    expect(parsePlanInput(planWith({ [field]: list }))).toMatchObject({ [field]: list });
  });

  it.each([
    ["a text", "tiktok"],
    ["an object", { 0: "tiktok", length: 1 }],
    ["a number", 1],
    ["true", true],
  ])("is refused as %s", (_, given) => {
    expect(problemsOf(planWith({ [field]: given }))).toEqual([{ field, message: "must be a list of text entries" }]);
  });

  it("reports every entry that is not text", () => {
    expect(invalidFields(planWith({ [field]: ["x", null, 1, ["x"], {}, "y"] }))).toEqual([1, 2, 3, 4].map((at) => `${field}[${at}]`));
  });
});

describe.each(["planned_for", "review_on"])("the date %s", (field) => {
  it.each(["2024-02-29", "1999-01-31", "0001-01-01", "9999-12-31"])("may be %s, in the past or far in the future", (date) => {
    expect(parsePlanInput(planWith({ [field]: date }))).toMatchObject({ [field]: date });
  });

  it.each(["2026-02-30", "2023-02-29", "2026-2-3", "0000-01-01", "2026-12-01T00:00:00Z", "2026-12-01 ", "tomorrow"])(
    "is refused as %j",
    (date) => {
      expect(problemsOf(planWith({ [field]: date }))).toEqual([
        { field, message: "must be a real date as YYYY-MM-DD, such as 2026-12-31" },
      ]);
    },
  );

  it.each([20_261_201, 0, true, ["2026-12-01"], {}])("is refused as %j, which is not text", (date) => {
    expect(problemsOf(planWith({ [field]: date }))).toEqual([{ field, message: "must be a date as YYYY-MM-DD, as text" }]);
  });
});

it.each([
  ["before", "2026-11-20"],
  ["after", "2026-12-20"],
  ["on", "2026-12-01"],
])("accepts a review %s the day the campaign is planned for", (_, review_on) => {
  expect(parsePlanInput(planWith({ planned_for: "2026-12-01", review_on }))).toMatchObject({ review_on });
});

describe("the planning budget", () => {
  it.each([0.01, 0.1, 0.29, 1.1, 5, 5.1, 19.99, 1_234_567.89, 999_999_999.99, 1_000_000_000])("may be %d pesos", (planning_budget) => {
    expect(parsePlanInput(planWith({ planning_budget }))).toMatchObject({ planning_budget });
  });

  it.each([0, -0, -1, 0.001, 0.1 + 0.2, 19.999, 1_000_000_000.001, 1_000_000_001, Number.MIN_VALUE, Number.NaN, fromJson("1e400")])(
    "is refused as %p, with one problem",
    (planning_budget) => {
      const message = "must be a number of pesos above 0 and at most 1,000,000,000, with at most two decimals";
      expect(problemsOf(planWith({ planning_budget }))).toEqual([{ field: "planning_budget", message }]);
    },
  );
});

describe("a planning_budget that is no number", () => {
  it.each(["5", "5 PHP", "250,000", "", null, true, [5], {}, 5n])("is refused as %p, with its right form", (planning_budget) => {
    const message = "must be a JSON number without quotes or commas, such as 250000";
    expect(problemsOf(planWith({ planning_budget }))).toEqual([{ field: "planning_budget", message }]);
  });
});

describe("the request_id", () => {
  it.each([
    ["version 4", "0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11"],
    ["version 7", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"],
    ["version 0", "0b6c2f5e-4a2b-0f0e-9a53-2f5a3d1c7e11"],
    ["version 15", "0b6c2f5e-4a2b-ff0e-9a53-2f5a3d1c7e11"],
    ["the reserved variant", "0b6c2f5e-4a2b-4f0e-fa53-2f5a3d1c7e11"],
    ["almost max", "ffffffff-ffff-ffff-ffff-fffffffffffe"],
  ])("may be a UUID of %s", (_, request_id) => {
    expect(parsePlanInput(planWith({ request_id }))).toMatchObject({ request_id });
  });

  it("is returned in lower case, given in upper or mixed case", () => {
    for (const request_id of ["0B6C2F5E-4A2B-4F0E-9A53-2F5A3D1C7E11", "0B6c2f5E-4a2b-4F0e-9A53-2f5a3D1c7e11"]) {
      expect(parsePlanInput(planWith({ request_id }))).toStrictEqual(FULL);
    }
  });

  it.each([
    ["the nil UUID", "00000000-0000-0000-0000-000000000000"],
    ["the max UUID", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
    ["a UUID in braces", "{0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11}"],
    ["a URN", "urn:uuid:0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11"],
    ["a UUID without dashes", "0b6c2f5e4a2b4f0e9a532f5a3d1c7e11"],
    ["a UUID with white space around it", " 0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11 "],
    ["a UUID and a line break", "0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11\n"],
    ["a truncated UUID", "0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e1"],
    ["another identifier", "pln_01h455vb4pex5vsknk084sn02q"],
  ])("is refused as %s, with one problem", (_, request_id) => {
    expect(problemsOf(planWith({ request_id }))).toEqual([{ field: "request_id", message: expect.stringContaining("UUID") }]);
  });
});

describe("an optional field", () => {
  it.each(OPTIONAL_FIELDS)("%s is left out by null, an empty text, undefined or being absent", (field) => {
    const { [field as "notes"]: _, ...without } = FULL;
    for (const given of [without, planWith({ [field]: null }), planWith({ [field]: "" }), planWith({ [field]: undefined })]) {
      expect(parsePlanInput(given)).toStrictEqual(without);
    }
  });

  it.each(OPTIONAL_FIELDS)("%s is refused as 0, false or {}", (field) => {
    for (const nothing of [0, false, {}]) expect(invalidFields(planWith({ [field]: nothing }))).toEqual([field]);
  });
});

describe("a required field", () => {
  it.each(REQUIRED_FIELDS)("%s is required", (field) => {
    const { [field as "title"]: _, ...without } = FULL;
    expect(problemsOf(without)).toEqual([{ field, message: "is required" }]);
  });

  it.each(REQUIRED_FIELDS)("%s is refused as null and as an empty text", (field) => {
    for (const nothing of [null, ""]) {
      const problems = problemsOf(planWith({ [field]: nothing }));
      expect(problems).toEqual([{ field, message: expect.stringMatching(/^must /) }]);
    }
  });
});

describe("text", () => {
  it("keeps white space around and within text, and text of white space only", () => {
    expect(parsePlanInput(planWith({ title: " two  spaces " }))).toMatchObject({ title: " two  spaces " });
    for (const text of [" two  spaces ", "\ttab\r\nand lines\n"]) {
      expect(parsePlanInput(planWith({ goal: text }))).toMatchObject({ goal: text });
    }
    for (const text of [" two  spaces ", "\ttab\r\nand lines\n", " ", "\u00A0\u200B\uFEFF"]) {
      for (const field of FREE_TEXT_FIELDS) expect(parsePlanInput(planWith({ [field]: text }))).toMatchObject({ [field]: text });
      expect(parsePlanInput(planWith({ requirements: [text] }))).toMatchObject({ requirements: [text] });
    }
  });

  it("is not normalised: composed and decomposed letters stay different", () => {
    const [composed, decomposed] = ["caf\u00E9", "cafe\u0301"];
    for (const field of TEXT_FIELDS) {
      for (const text of [composed, decomposed, "\uFB01", "\u212B"]) {
        expect((parsePlanInput(planWith({ [field]: text })) as unknown as Record<string, string>)[field]).toBe(text);
      }
    }
    expect(parsePlanInput(planWith({ platforms: [composed, decomposed] })).platforms).toStrictEqual([composed, decomposed]);
  });

  it.each(["😀", "👨‍👩‍👧", "𠜎", "\u{10FFFF}", "\uFFFE"])("may hold %j", (character) => {
    for (const field of TEXT_FIELDS) expect(parsePlanInput(planWith({ [field]: character }))).toMatchObject({ [field]: character });
    for (const field of ["requirements", "platforms"]) {
      expect(parsePlanInput(planWith({ [field]: [character] }))).toMatchObject({ [field]: [character] });
    }
  });

  it.each(["\u0001", "\u007F", "\u202E"])("may hold %j unless it is shown on one line", (character) => {
    for (const field of FREE_TEXT_FIELDS) expect(parsePlanInput(planWith({ [field]: character }))).toMatchObject({ [field]: character });
    expect(parsePlanInput(planWith({ requirements: [character] }))).toMatchObject({ requirements: [character] });
  });

  it.each([" ", "\u2003\u3000", "\u200B", "\u202E\u202C", "\u2028", "\u3164", "\u2800", "\uFE0F", "\u{E0020}"])(
    "refuses a title or a goal of only %j, which is invisible",
    (invisible) => {
      for (const field of ["title", "goal"]) {
        expect(problemsOf(planWith({ [field]: invisible }))).toEqual([{ field, message: "must contain at least one visible character" }]);
        for (const text of [`a${invisible}`, `${invisible}😀`, `${invisible}.`]) {
          expect(parsePlanInput(planWith({ [field]: text }))).toMatchObject({ [field]: text });
        }
      }
    },
  );

  it.each(["\u0001", "\t", "\n", "\u007F", "\u0085", "\u009F"])(
    "refuses a title or a platform with the control character %j, because it is shown on one line",
    (control) => {
      const message = "must not contain control characters such as line breaks";
      expect(problemsOf(planWith({ title: `a${control}b` }))).toEqual([{ field: "title", message }]);
      expect(problemsOf(planWith({ title: control }))).toEqual([{ field: "title", message }]);
      expect(problemsOf(planWith({ platforms: ["tiktok", `a${control}b`] }))).toEqual([{ field: "platforms[1]", message }]);
      expect(parsePlanInput(planWith({ goal: `a${control}b` }))).toMatchObject({ goal: `a${control}b` });
    },
  );

  const UNSTORABLE: [string, string][] = [
    ["NUL", "a\0b"],
    ["a lone high surrogate", "a\uD83D"],
    ["a lone low surrogate", "\uDE00b"],
    ["surrogates in the wrong order", "\uDE00\uD83D"],
  ];

  it.each(UNSTORABLE)("is refused with %s, in every field", (_, text) => {
    const problem = (field: string) => [{ field, message: "must not contain NUL or lone surrogates" }];
    for (const field of TEXT_FIELDS) expect(problemsOf(planWith({ [field]: text }))).toEqual(problem(field));
    for (const field of ["requirements", "platforms"]) {
      expect(problemsOf(planWith({ [field]: ["fine", text] }))).toEqual(problem(`${field}[1]`));
    }
    for (const field of ["request_id", "campaign_type", "planned_for", "review_on"]) {
      expect(invalidFields(planWith({ [field]: text }))).toEqual([field]);
    }
  });

  it.each([1, true, {}, ["text"]])("is refused as %j", (given) => {
    for (const field of TEXT_FIELDS) expect(problemsOf(planWith({ [field]: given }))).toEqual([{ field, message: "must be text" }]);
  });
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
