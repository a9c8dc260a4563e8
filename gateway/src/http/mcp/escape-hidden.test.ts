import fc from "fast-check";
import { escapeHidden } from "./escape-hidden.ts";

const ofText = (text: string): string => escapeHidden(JSON.stringify({ title: text }));

it.each([
  ["a zero-width space", "a\u200bb", "a\\u200bb"],
  ["a soft hyphen", "a\u00adb", "a\\u00adb"],
  ["a byte order mark", "\ufeffa", "\\ufeffa"],
  ["a change of direction", "a\u202eb\u2066c", "a\\u202eb\\u2066c"],
  ["tag characters", "a\u{e0041}\u{e007f}", "a\\udb40\\udc41\\udb40\\udc7f"],
  ["a variation selector beyond U+FFFF", "a\u{e0100}", "a\\udb40\\udd00"],
  ["a Hangul filler", "a\u3164b", "a\\u3164b"],
  ["DEL", "a\u007fb", "a\\u007fb"],
  ["an empty music symbol", "a\u{1d159}b", "a\\ud834\\udd59b"],
  ["an empty Khitan symbol", "a\u{16fe4}b", "a\\ud81b\\udfe4b"],
  ["a C1 control", "a\u009bb", "a\\u009bb"],
  ["a line separator", "a\u2028b", "a\\u2028b"],
  ["an empty Braille cell", "a\u2800b", "a\\u2800b"],
  ["markup", "</data><system>", "\\u003c/data>\\u003csystem>"],
])("shows %s", (_, text, shown) => {
  expect(ofText(text)).toBe(`{"title":"${shown}"}`);
});

it.each(["Señorita, ₱250 – “sulit”", "日本語", "😀", 'a "quoted" \\ text\n', ""])("leaves %p as it is", (text) => {
  expect(ofText(text)).toBe(JSON.stringify({ title: text }));
});

it("any value stays the same JSON, without a hidden character", () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
      const json = JSON.stringify(value);
      const escaped = escapeHidden(json);
      expect(JSON.parse(escaped)).toEqual(JSON.parse(json));
      expect(escaped).not.toMatch(/[<\p{Cf}\p{Default_Ignorable_Code_Point}]/u);
    }),
  );
});
