import { nameField } from "./request-fields.ts";

const problemsOf = (text: string, max = 80): string[] =>
  nameField(max)
    .safeParse(text)
    .error?.issues.map(({ message }) => message) ?? [];

describe("a name", () => {
  it.each([
    "Reports",
    "Ulap at Araw, Ñora & Søn",
    "ร้านกาแฟ",
    "خدمة الويب",
    "דוחות\u200F (1)",
    "می\u200Cخواهم",
    "क्\u200Dष",
    "👨‍👩‍👧‍👦",
    "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
    "❤️",
    "🇵🇭",
    "名前",
    ".",
  ])("may be %s", (text) => {
    expect(nameField(80).parse(text)).toBe(text);
  });

  it.each([
    ["", "must not be empty"],
    [" \u3000\uFEFF", "must not be empty"],
    ["\u200B", "must contain a character that shows"],
    ["\u200D\u2060 \u00AD", "must contain a character that shows"],
    ["\uFE0F\u{E0041}\u3164\u115F\u2800", "must contain a character that shows"],
    ["\u200F", "must contain a character that shows"],
    ["a\nb", "must not contain control characters"],
    ["a\u2028b", "must not contain control characters"],
    ["a\uD800", "must not contain control characters"],
    ...[..."\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069\u206A"].map((character) => [
      `Reports ${character}live`,
      "must not contain characters that reorder text",
    ]),
  ])("is not %j", (text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });

  it("is as long as people count, and trimmed", () => {
    expect(nameField(3).parse(" 😀😀😀 ")).toBe("😀😀😀");
    expect(problemsOf("😀😀😀😀", 3)).toEqual(["must be at most 3 characters"]);
  });
});
