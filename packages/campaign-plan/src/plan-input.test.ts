import { AppError, type ProblemDetail } from "@brand-records/errors";
import fc from "fast-check";
import { CAMPAIGN_TYPES, parsePlanInput, type PlanInput } from "./index.ts";

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
/** Not shown on one line, and not required. */
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
  throw new Error("it was accepted");
}

const problemsOf = (given: unknown): readonly ProblemDetail[] => refusalOf(given).details ?? [];
const wrongFields = (given: unknown): string[] => [...new Set(problemsOf(given).map(({ field }) => field))];
const having = (more: object): unknown => ({ ...FULL, ...more });
/** As it is read from a request, where `__proto__` is a field like any other. */
const fromJson = (json: string): unknown => JSON.parse(json);

it("takes a plan of the required fields, and one of all fields, as they are", () => {
  expect(parsePlanInput(REQUIRED)).toStrictEqual(REQUIRED);
  expect(parsePlanInput(FULL)).toStrictEqual(FULL);
});

it.each(CAMPAIGN_TYPES)("takes the campaign type %s", (campaign_type) => {
  expect(parsePlanInput(having({ campaign_type }))).toMatchObject({ campaign_type });
});

it.each(["Blitz", " blitz", "clipping", "toString", "__proto__", 1, ["blitz"]])("refuses the campaign type %j", (campaign_type) => {
  expect(problemsOf(having({ campaign_type }))).toEqual([
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

  it.each(LIMITS)("of %s may be 1 and %i characters, and no more", (field, max) => {
    for (const text of ["x", "x".repeat(max)]) expect(parsePlanInput(having({ [field]: text }))).toMatchObject({ [field]: text });
    expect(problemsOf(having({ [field]: "x".repeat(max + 1) }))).toEqual([
      { field, message: `must be at most ${max.toLocaleString("en")} characters` },
    ]);
  });

  it.each(LIMITS)("of %s is counted in Unicode characters: %i emoji fit, one more does not", (field, max) => {
    expect(parsePlanInput(having({ [field]: EMOJI.repeat(max) }))).toMatchObject({ [field]: EMOJI.repeat(max) });
    expect(wrongFields(having({ [field]: EMOJI.repeat(max) + EMOJI }))).toEqual([field]);
    expect(wrongFields(having({ [field]: `${EMOJI.repeat(max)}x` }))).toEqual([field]);
  });

  it("is counted before composing: two hundred letters and an accent of its own are 201", () => {
    expect(parsePlanInput(having({ title: "é".repeat(200) }))).toMatchObject({ title: "é".repeat(200) });
    expect(wrongFields(having({ title: `${"e".repeat(200)}\u0301` }))).toEqual(["title"]);
  });
});

describe.each([
  ["requirements", 50, 500],
  ["platforms", 20, 64],
])("the list %s", (field, entriesMax, charactersMax) => {
  const entries = (count: number, entry = "x"): string[] => Array.from({ length: count }, () => entry);

  it("has one entry at least and no more than its maximum, each up to its own", () => {
    for (const list of [["x"], entries(entriesMax), entries(entriesMax, "x".repeat(charactersMax)), [EMOJI.repeat(charactersMax)]]) {
      expect(parsePlanInput(having({ [field]: list }))).toMatchObject({ [field]: list });
    }
  });

  it("is refused when empty: who has none leaves it out", () => {
    expect(problemsOf(having({ [field]: [] }))).toEqual([
      { field, message: `must have 1 to ${entriesMax} entries; leave it out if there are none` },
    ]);
  });

  it("is refused with one entry too many", () => {
    expect(problemsOf(having({ [field]: entries(entriesMax + 1) }))).toEqual([{ field, message: `must have 1 to ${entriesMax} entries` }]);
  });

  it("is refused with an entry too long, and says which", () => {
    for (const long of ["x".repeat(charactersMax + 1), EMOJI.repeat(charactersMax + 1)]) {
      expect(problemsOf(having({ [field]: ["x", long] }))).toEqual([
        { field: `${field}[1]`, message: `must be at most ${charactersMax} characters` },
      ]);
    }
  });

  it("keeps order, doubles and empty entries", () => {
    const list = ["b", "a", "", "b", " a "];
    expect(parsePlanInput(having({ [field]: list }))).toMatchObject({ [field]: list });
  });

  it.each([
    ["a text", "tiktok"],
    ["an object", { 0: "tiktok", length: 1 }],
    ["a number", 1],
    ["true", true],
  ])("is refused as %s", (_, given) => {
    expect(problemsOf(having({ [field]: given }))).toEqual([{ field, message: "must be a list of texts" }]);
  });

  it("is refused with anything but texts in it, each told", () => {
    expect(wrongFields(having({ [field]: ["x", null, 1, ["x"], {}, "y"] }))).toEqual([1, 2, 3, 4].map((at) => `${field}[${at}]`));
  });
});

describe.each(["planned_for", "review_on"])("the date %s", (field) => {
  it.each(["2024-02-29", "1999-01-31", "0001-01-01", "9999-12-31"])("may be %s, in the past or far away", (date) => {
    expect(parsePlanInput(having({ [field]: date }))).toMatchObject({ [field]: date });
  });

  it.each(["2026-02-30", "2023-02-29", "2026-2-3", "0000-01-01", "2026-12-01T00:00:00Z", "2026-12-01 ", "tomorrow"])(
    "is refused as %j",
    (date) => {
      expect(problemsOf(having({ [field]: date }))).toEqual([{ field, message: "must be a real date as YYYY-MM-DD, such as 2026-12-31" }]);
    },
  );

  it.each([20_261_201, 0, true, ["2026-12-01"], {}])("is refused as %j, which is no text", (date) => {
    expect(problemsOf(having({ [field]: date }))).toEqual([{ field, message: "must be a date as YYYY-MM-DD, as text" }]);
  });
});

it.each([
  ["before", "2026-11-20"],
  ["after", "2026-12-20"],
  ["on", "2026-12-01"],
])("does not mind a review %s the day the campaign is planned for", (_, review_on) => {
  expect(parsePlanInput(having({ planned_for: "2026-12-01", review_on }))).toMatchObject({ review_on });
});

describe("the planning budget", () => {
  it.each([0.01, 0.1, 0.29, 1.1, 5, 5.1, 19.99, 1_234_567.89, 999_999_999.99, 1_000_000_000])("may be %d pesos", (planning_budget) => {
    expect(parsePlanInput(having({ planning_budget }))).toMatchObject({ planning_budget });
  });

  it("may be any amount of whole centavos", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000_000_000 }), (centavos) => {
        const { planning_budget } = parsePlanInput(having({ planning_budget: centavos / 100 }));
        expect(Math.round(planning_budget * 100)).toBe(centavos);
      }),
    );
  });

  it.each([
    0,
    -0,
    -1,
    0.001,
    0.004,
    -0.001,
    0.1 + 0.2,
    19.999,
    1_000_000_000.01,
    1_000_000_000.001,
    1_000_000_001,
    Number.MIN_VALUE,
    Number.MAX_VALUE,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    fromJson("1e400"),
    "5",
    "5 PHP",
    "",
    null,
    true,
    [5],
    {},
    5n,
  ])("is refused as %p, in one sentence", (planning_budget) => {
    const message = "must be a number of pesos above 0 and at most 1,000,000,000, with at most two decimals";
    expect(problemsOf(having({ planning_budget }))).toEqual([{ field: "planning_budget", message }]);
  });
});

describe("the request_id", () => {
  it.each([
    ["version 4", "0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11"],
    ["version 1", "c232ab00-9414-11ec-b3c8-9f6bdeced846"],
    ["version 5", "74738ff5-5367-5958-9aee-98fffdcd1876"],
    ["version 7", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"],
    ["version 0", "0b6c2f5e-4a2b-0f0e-9a53-2f5a3d1c7e11"],
    ["version 15", "0b6c2f5e-4a2b-ff0e-9a53-2f5a3d1c7e11"],
    ["the NCS variant", "0b6c2f5e-4a2b-4f0e-0a53-2f5a3d1c7e11"],
    ["the Microsoft variant", "0b6c2f5e-4a2b-4f0e-ca53-2f5a3d1c7e11"],
    ["the reserved variant", "0b6c2f5e-4a2b-4f0e-fa53-2f5a3d1c7e11"],
    ["almost nil", "00000000-0000-0000-0000-000000000001"],
    ["almost max", "ffffffff-ffff-ffff-ffff-fffffffffffe"],
  ])("may be a UUID of %s", (_, request_id) => {
    expect(parsePlanInput(having({ request_id }))).toMatchObject({ request_id });
  });

  it("is the same in upper and in mixed case: it comes out in lower case", () => {
    for (const request_id of ["0B6C2F5E-4A2B-4F0E-9A53-2F5A3D1C7E11", "0B6c2f5E-4a2b-4F0e-9A53-2f5a3D1c7e11"]) {
      expect(parsePlanInput(having({ request_id }))).toStrictEqual(FULL);
    }
  });

  it.each([
    ["the nil UUID", "00000000-0000-0000-0000-000000000000"],
    ["the max UUID", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
    ["the max UUID in upper case", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"],
    ["a UUID in braces", "{0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11}"],
    ["a URN", "urn:uuid:0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11"],
    ["a UUID without dashes", "0b6c2f5e4a2b4f0e9a532f5a3d1c7e11"],
    ["a UUID with dashes elsewhere", "0b6c2f5e4-a2b-4f0e-9a53-2f5a3d1c7e11"],
    ["a UUID with white space around it", " 0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11 "],
    ["a UUID and a line break", "0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11\n"],
    ["a letter that is no digit", "0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e1g"],
    ["a UUID cut short", "0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e1"],
    ["another identifier", "pln_01h455vb4pex5vsknk084sn02q"],
    ["nothing", ""],
    ["a number", 7],
    ["a list of one", ["0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11"]],
  ])("is refused as %s, once", (_, request_id) => {
    expect(problemsOf(having({ request_id }))).toEqual([{ field: "request_id", message: expect.stringContaining("UUID") }]);
  });
});

describe("an optional field", () => {
  it.each(OPTIONAL_FIELDS)("%s is left out by null, by an empty text and by being absent, all the same", (field) => {
    const { [field as "notes"]: _, ...without } = FULL;
    for (const given of [without, having({ [field]: null }), having({ [field]: "" }), having({ [field]: undefined })]) {
      expect(parsePlanInput(given)).toStrictEqual(without);
    }
  });

  it.each(OPTIONAL_FIELDS)("%s is refused as anything else that is empty or false", (field) => {
    for (const nothing of [0, false, {}]) expect(wrongFields(having({ [field]: nothing }))).toEqual([field]);
  });
});

describe("a required field", () => {
  it.each(REQUIRED_FIELDS)("%s must be there", (field) => {
    const { [field as "title"]: _, ...without } = FULL;
    expect(problemsOf(without)).toEqual([{ field, message: "is required" }]);
  });

  it.each(REQUIRED_FIELDS)("%s is refused as null and as an empty text", (field) => {
    for (const nothing of [null, ""]) {
      const problems = problemsOf(having({ [field]: nothing }));
      expect(problems).toEqual([{ field, message: expect.stringMatching(/^must /) }]);
    }
  });
});

describe("text", () => {
  it("keeps white space as it is, around it, within, and where it is all there is", () => {
    expect(parsePlanInput(having({ title: " two  spaces " }))).toMatchObject({ title: " two  spaces " });
    for (const text of [" two  spaces ", "\ttab\r\nand lines\n"]) {
      expect(parsePlanInput(having({ goal: text }))).toMatchObject({ goal: text });
    }
    for (const text of [" two  spaces ", "\ttab\r\nand lines\n", " ", "\u00A0\u200B\uFEFF"]) {
      for (const field of FREE_TEXT_FIELDS) expect(parsePlanInput(having({ [field]: text }))).toMatchObject({ [field]: text });
      expect(parsePlanInput(having({ requirements: [text] }))).toMatchObject({ requirements: [text] });
    }
  });

  it("is not normalised: composed and decomposed letters stay apart", () => {
    const [composed, decomposed] = ["caf\u00E9", "cafe\u0301"];
    for (const field of TEXT_FIELDS) {
      for (const text of [composed, decomposed, "\uFB01", "\u212B"]) {
        expect((parsePlanInput(having({ [field]: text })) as unknown as Record<string, string>)[field]).toBe(text);
      }
    }
    expect(parsePlanInput(having({ platforms: [composed, decomposed] })).platforms).toStrictEqual([composed, decomposed]);
  });

  it.each(["😀", "👨‍👩‍👧", "𠜎", "\u{10FFFF}", "\uFFFE"])("may hold %j", (character) => {
    for (const field of TEXT_FIELDS) expect(parsePlanInput(having({ [field]: character }))).toMatchObject({ [field]: character });
    for (const field of ["requirements", "platforms"]) {
      expect(parsePlanInput(having({ [field]: [character] }))).toMatchObject({ [field]: [character] });
    }
  });

  it.each(["\u0001", "\u007F", "\u202E"])("may hold %j, but on a line of its own", (character) => {
    for (const field of FREE_TEXT_FIELDS) expect(parsePlanInput(having({ [field]: character }))).toMatchObject({ [field]: character });
    expect(parsePlanInput(having({ requirements: [character] }))).toMatchObject({ requirements: [character] });
  });

  it.each([
    " ",
    "\u00A0",
    "\u2003\u3000",
    "\u200B",
    "\u2060\uFEFF",
    "\u202E\u202C",
    "\u2028",
    "\u3164",
    "\u115F",
    "\u2800",
    "\uFE0F",
    "\u{E0020}",
  ])("a title or a goal of %j alone, of which nobody sees anything, is refused", (invisible) => {
    for (const field of ["title", "goal"]) {
      expect(problemsOf(having({ [field]: invisible }))).toEqual([{ field, message: "must hold at least one visible character" }]);
      for (const text of [`a${invisible}`, `${invisible}😀`, `${invisible}.`]) {
        expect(parsePlanInput(having({ [field]: text }))).toMatchObject({ [field]: text });
      }
    }
  });

  it.each(["\u0001", "\t", "\n", "\r", "\u001B", "\u001F", "\u007F", "\u0080", "\u0085", "\u009F"])(
    "a title or a platform with the control character %j is refused, because it is shown on one line",
    (control) => {
      const message = "must not hold control characters such as line breaks";
      expect(problemsOf(having({ title: `a${control}b` }))).toEqual([{ field: "title", message }]);
      expect(problemsOf(having({ title: control }))).toEqual([{ field: "title", message }]);
      expect(problemsOf(having({ platforms: ["tiktok", `a${control}b`] }))).toEqual([{ field: "platforms[1]", message }]);
      expect(parsePlanInput(having({ goal: `a${control}b` }))).toMatchObject({ goal: `a${control}b` });
    },
  );

  const UNKEEPABLE: [string, string][] = [
    ["NUL", "a\0b"],
    ["NUL alone", "\0"],
    ["half a character", "a\uD83D"],
    ["the other half", "\uDE00b"],
    ["the halves the wrong way round", "\uDE00\uD83D"],
    ["a half before a whole one", "\uD83D😀"],
  ];

  it.each(UNKEEPABLE)("is refused with %s, in every field", (_, text) => {
    const problem = (field: string) => [{ field, message: "must not hold NUL or lone surrogates" }];
    for (const field of TEXT_FIELDS) expect(problemsOf(having({ [field]: text }))).toEqual(problem(field));
    for (const field of ["requirements", "platforms"]) {
      expect(problemsOf(having({ [field]: ["fine", text] }))).toEqual(problem(`${field}[1]`));
    }
    for (const field of ["request_id", "campaign_type", "planned_for", "review_on"]) {
      expect(wrongFields(having({ [field]: text }))).toEqual([field]);
    }
  });

  it.each([1, true, {}, ["text"]])("is refused as %j", (given) => {
    for (const field of TEXT_FIELDS) expect(problemsOf(having({ [field]: given }))).toEqual([{ field, message: "must be text" }]);
  });
});

describe("a field that a plan does not have", () => {
  it.each(["brand_id", "status", "plan_id", "Title", "title ", "constructor", "toString", "hasOwnProperty", "length", "0", ""])(
    "is refused and named: %j",
    (name) => {
      expect(problemsOf(having({ [name]: "x" }))).toEqual([{ field: name, message: expect.stringContaining("is no field of a plan") }]);
    },
  );

  it("is refused also when it holds nothing", () => {
    for (const nothing of [null, ""]) expect(wrongFields(having({ budget: nothing }))).toEqual(["budget"]);
  });

  it("is refused as __proto__, which changes no object", () => {
    const given = fromJson(JSON.stringify(FULL).replace("{", '{"__proto__":{"title":"theirs","polluted":true},'));
    expect(wrongFields(given)).toEqual(["__proto__"]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("is not taken from what an object inherits", () => {
    const { title, ...rest } = FULL;
    const heir: unknown = Object.assign(Object.create({ title }) as object, rest);
    expect(problemsOf(heir)).toEqual([{ field: "title", message: "is required" }]);
    expect(wrongFields(fromJson('{"__proto__":{}}'))).toEqual([...REQUIRED_FIELDS, "__proto__"]);
  });

  it("may have a name of any length and kind: what is said of it is short and well-formed", () => {
    for (const name of ["x".repeat(100_000), "\0", "\uD83D", `${"x".repeat(63)}${EMOJI}`]) {
      const { message, field = "", details = [] } = refusalOf(having({ [name]: 1 }));
      expect(details).toHaveLength(1);
      expect(field.length).toBeLessThanOrEqual(64);
      for (const text of [message, field, details[0]?.field]) expect(text?.isWellFormed()).toBe(true);
      expect(message.length).toBeLessThan(400);
    }
  });

  it("may come in thousands: the answer stays bounded, and tells how many", () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`${i} ${"x".repeat(100)}`, i]));
    const { message, details } = refusalOf(having({ ...many, title: 1 }));
    expect(message).toContain("20001 problems in all");
    expect(details?.[0]).toEqual({ field: "title", message: "must be text" });
    expect(details).toHaveLength(30);
    expect(JSON.stringify(details).length).toBeLessThan(16 * 1024);
  });
});

it("stays bounded in what it says of a list of thousands of wrong entries", () => {
  const { message, details } = refusalOf(having({ requirements: Array.from({ length: 20_000 }, () => 1) }));
  expect(message.length).toBeLessThan(400);
  expect(details?.length).toBeLessThanOrEqual(30);
});

it.each([
  ["a list", [FULL]],
  ["an empty list", []],
  ["a text", JSON.stringify(FULL)],
  ["an empty text", ""],
  ["null", null],
  ["nothing", undefined],
  ["a number", 1],
  ["NaN", Number.NaN],
  ["true", true],
])("refuses %s in place of a plan", (_, given) => {
  expect(refusalOf(given)).toMatchObject({ message: "The plan must be one JSON object.", details: undefined });
});

describe("what is said of a plan that is wrong", () => {
  it("is every problem at once, each with its field and what to do about it", () => {
    const nothingRight = {
      request_id: "1",
      title: "",
      goal: 7,
      campaign_type: "clips",
      planned_for: "soon",
      review_on: null,
      planning_budget: "5",
      summary: ["x"],
      brief: "x".repeat(20_001),
      requirements: [],
      platforms: ["x", "x".repeat(65), 3],
      notes: "\0",
      budget: 5,
    };
    const { message, field, details } = refusalOf(nothingRight);
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
    for (const problem of details ?? []) expect(problem.message).toMatch(/^(must|is no field) .{5,}/);
    expect(field).toBe("request_id");
    expect(message).toBe(`request_id ${details?.[0]?.message} (14 problems in all, see details)`);
  });

  it("is everything that is required, of an empty one", () => {
    expect(problemsOf({})).toEqual(REQUIRED_FIELDS.map((field) => ({ field, message: "is required" })));
  });

  it("does not repeat what the plan says", () => {
    const secret = "do-not-tell";
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

  it("leaves what it was given as it was", () => {
    const given = Object.freeze({ ...FULL, request_id: FULL.request_id.toUpperCase(), notes: null });
    parsePlanInput(given);
    expect(given).toStrictEqual({ ...FULL, request_id: FULL.request_id.toUpperCase(), notes: null });
  });
});

describe("any plan that is accepted", () => {
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
  const left = fc.constantFrom(null, "");
  const plan = fc.record(
    {
      request_id: uuid,
      title: lineOf(1, 200).filter(visible),
      goal: textOf(1, 300).filter(visible),
      campaign_type: fc.constantFrom(...CAMPAIGN_TYPES),
      planned_for: date,
      review_on: date,
      planning_budget: fc.integer({ min: 1, max: 100_000_000_000 }).map((centavos) => centavos / 100),
      summary: fc.oneof(textOf(0, 300), left),
      brief: fc.oneof(textOf(0, 300), left),
      requirements: fc.oneof(fc.array(textOf(0, 100), { minLength: 1, maxLength: 50 }), left),
      platforms: fc.oneof(fc.array(lineOf(0, 64), { minLength: 1, maxLength: 20 }), left),
      notes: fc.oneof(textOf(0, 300), left),
    },
    { requiredKeys: ["request_id", "title", "goal", "campaign_type", "planned_for", "review_on", "planning_budget"] },
  );

  it("comes out as it went in, but for the case of its request_id and what was left out", () => {
    fc.assert(
      fc.property(plan, (given) => {
        const kept = Object.entries(given).filter(([, value]) => value !== null && value !== "");
        expect(parsePlanInput(given)).toStrictEqual({ ...Object.fromEntries(kept), request_id: given.request_id.toLowerCase() });
      }),
    );
  });

  it("is a fixed point: parsed again, also out of JSON, it is the same", () => {
    fc.assert(
      fc.property(plan, (given) => {
        const once = parsePlanInput(given);
        expect(parsePlanInput(once)).toStrictEqual(once);
        expect(parsePlanInput(fromJson(JSON.stringify(once)))).toStrictEqual(once);
      }),
    );
  });

  it("is the same whatever the order of its fields", () => {
    const shuffled = plan.chain((given) =>
      fc.tuple(fc.constant(given), fc.shuffledSubarray(Object.entries(given), { minLength: Object.keys(given).length })),
    );
    fc.assert(
      fc.property(shuffled, ([given, entries]) => {
        expect(JSON.stringify(parsePlanInput(Object.fromEntries(entries)))).toBe(JSON.stringify(parsePlanInput(given)));
      }),
    );
  });
});

it("answers any JSON there is with a plan or with invalid_request, and nothing else", () => {
  const wrongValue = fc.record({ field: fc.constantFrom(...REQUIRED_FIELDS, ...OPTIONAL_FIELDS), value: fc.jsonValue() });
  const given = fc.oneof(
    fc.jsonValue(),
    wrongValue.map(({ field, value }) => having({ [field]: value })),
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
