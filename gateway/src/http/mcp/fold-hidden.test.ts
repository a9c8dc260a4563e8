import fc from "fast-check";
import { foldHidden, jsonForModels } from "./fold-hidden.ts";

/** Written without the expressions of the code. */
const HIDDEN = /^[\p{Cf}\p{DI}\u{7f}-\u{9f}\u2028\u2029\u2800\u{16fe4}\u{1d159}]$/u;
const STAYS_ALONE = /^(?:[\u200c-\u200f]|\u061c|[\u{fe00}-\u{fe0f}]|[\u{e0100}-\u{e01ef}])$/u;
const MARKER = /\[\d+ hidden characters\]/g;

it.each([
  ["a zero-width space", "a\u200bb", "a[1 hidden characters]b"],
  ["a change of direction", "a\u202eb\u2066c", "a[1 hidden characters]b[1 hidden characters]c"],
  ["tag characters", "a\u{e0041}\u{e007f}", "a[2 hidden characters]"],
  ["tag characters after a flag's emoji", "\u{1f3f4}\u{e0041}\u{e007f}", "\u{1f3f4}[2 hidden characters]"],
  ["a Hangul filler", "a\u3164b", "a[1 hidden characters]b"],
  ["DEL and a C1 control", "a\u007f\u009bb", "a[2 hidden characters]b"],
  ["a line separator", "a\u2028b", "a[1 hidden characters]b"],
  ["an empty Braille cell", "a\u2800b", "a[1 hidden characters]b"],
  ["two joiners", "a\u200d\u200db", "a[2 hidden characters]b"],
  ["selectors in a row, which can carry a text", "\u{1f600}\ufe00\ufe01\u{e0100}", "\u{1f600}[3 hidden characters]"],
  ["a joiner before, after and beside white space", "\u200da\u200d b", "[1 hidden characters]a[1 hidden characters] b"],
  ["a selector after a letter at the end", "a\ufe0f", "a[1 hidden characters]"],
])("shows %s", (_, text, shown) => {
  expect(foldHidden(text)).toBe(shown);
});

it.each([
  "Señorita, ₱250 – “sulit”",
  "日本語",
  'a "quoted" \\ text\n\t</data>',
  "",
  "می‌خواهم",
  "ক্‍ষ",
  "a\u200fb",
  "1️⃣ ❤️ 👩🏽‍🚀 👁️‍🗨️ 👩‍❤️‍💋‍👨 🏳️‍⚧️ 🏴‍☠️ ☠︎",
  "🏴󠁧󠁢󠁥󠁮󠁧󠁿🏴󠁧󠁢󠁳󠁣󠁴󠁿 🏴󠁧󠁢󠁷󠁬󠁳󠁿",
])("leaves %p as it is", (text) => {
  expect(foldHidden(text)).toBe(text);
  expect(jsonForModels({ text })).toBe(JSON.stringify({ text }));
});

it("each character of Unicode shows or stays, between letters, alone and at an end", () => {
  const wrong: string[] = [];
  for (let point = 0; point <= 0x10_ffff; point += 1) {
    const character = String.fromCodePoint(point);
    const shown = HIDDEN.test(character) ? "[1 hidden characters]" : character;
    const between = STAYS_ALONE.test(character) ? character : shown;
    const isRight = foldHidden(`a${character}b`) === `a${between}b` && (character === shown || foldHidden(character) === shown);
    if (!isRight) wrong.push(point.toString(16));
  }
  expect(wrong).toEqual([]);
});

it("any value stays the same but for runs, whose characters the markers count", () => {
  const unit = fc.oneof(
    fc.string({ unit: "binary", maxLength: 6 }),
    fc.constantFrom("\u200b", "\u202e", "\u{e0041}", "\u200d", "\ufe0f", "❤️", "a", "\u{1f3f4}"),
  );
  const text = fc.array(unit, { maxLength: 30 }).map((units) => units.join(""));
  const visible = (value: unknown): unknown =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll(MARKER, "")
        .replaceAll(/[\p{Cf}\p{DI}\u007f-\u009f\u2028\u2029\u2800\u{16fe4}\u{1d159}]/gu, ""),
    );
  fc.assert(
    fc.property(fc.array(text), (texts) => {
      const data = texts.map((title) => ({ title, url: title }));
      const folded = JSON.parse(jsonForModels({ data })) as { data: typeof data };
      expect(visible(folded)).toEqual(visible({ data }));
      for (const [at, { title }] of folded.data.entries()) {
        const counted = [...title.matchAll(MARKER)].reduce((sum, [each]) => sum + Number.parseInt(each.slice(1), 10), 0);
        const isHidden = (each: string): boolean => HIDDEN.test(each);
        expect([...title].filter(isHidden).length + counted).toBe([...(texts[at] ?? "")].filter(isHidden).length);
        // Folding is done once and for all.
        expect(foldHidden(title)).toBe(title);
      }
    }),
  );
});

it.each([
  ["tag characters", "\u{e0041}", 0],
  ["zero-width spaces between letters", "a\u200b", 0],
  ["pairs of joiners between letters", "a\u200d\u200d", 0],
  ["joiners between letters", "a\u200d", 0],
  ["unfinished flags", "\u{1f3f4}\u{e0067}", 0],
  ["hearts", "❤️ ", 1],
])("%s cost no more bytes than the text and nine markers, and at most one match a run", (_, unit, matchesOfUnit) => {
  const units = Math.floor(2_048 / [...unit].length);
  const text = unit.repeat(units);
  const matches = jest.spyOn(RegExp.prototype, "exec");
  const folded = foldHidden(text);
  expect(matches.mock.calls.length).toBe(matchesOfUnit * units);
  matches.mockRestore();
  expect(Buffer.byteLength(folded)).toBeLessThanOrEqual(Buffer.byteLength(text) + 9 * "[2048 hidden characters]".length);
});
