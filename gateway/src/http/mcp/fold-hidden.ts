/** A text of 2,048 characters could otherwise have 1,024 markers, and the page eleven times its length. */
const MARKERS_MAX = 8;

/**
 * Serialises a value for a model. A run of hidden characters in a text becomes `[N hidden characters]`, so that hidden instructions show
 * and cost nothing; after eight in a text, one at its end counts the rest. Emoji and single joiners, selectors and marks between
 * visible characters stay.
 */
export function jsonForModels(value: object): string {
  const json = JSON.stringify(value);
  return ANY_HIDDEN.test(json) ? JSON.stringify(value, (_, each: unknown) => (typeof each === "string" ? foldHidden(each) : each)) : json;
}

/** The same for one text, in one pass. */
export function foldHidden(text: string): string {
  const pieces: string[] = [];
  let copied = 0;
  let markers = 0;
  let unmarked = 0;
  let before: number = NOTHING;
  for (let at = 0; at < text.length;) {
    const point = text.codePointAt(at) ?? NOTHING;
    if (!isHidden(point)) {
      before = point;
      at += sizeOf(point);
      continue;
    }
    const { end, length } = runAt(text, at);
    if (!stays(text.slice(at, end), before, text.codePointAt(end) ?? NOTHING)) {
      pieces.push(text.slice(copied, at));
      copied = end;
      markers += 1;
      if (markers <= MARKERS_MAX) pieces.push(marker(length));
      else unmarked += length;
    }
    at = end;
  }
  if (markers === 0) return text;
  return pieces.join("") + text.slice(copied) + (unmarked === 0 ? "" : marker(unmarked));
}

const marker = (length: number): string => `[${length} hidden characters]`;

/** @returns where a run ends, and its length in characters */
function runAt(text: string, start: number): { readonly end: number; readonly length: number } {
  let end = start;
  let length = 0;
  for (let point = text.codePointAt(end); point !== undefined && isHidden(point); point = text.codePointAt(end)) {
    end += sizeOf(point);
    length += 1;
  }
  return { end, length };
}

/** Whether a run is a part of an emoji, or the one character that writing needs between visible ones. */
function stays(run: string, before: number, after: number): boolean {
  const point = run.codePointAt(0) ?? NOTHING;
  if (run.length === sizeOf(point)) {
    if (!isSingle(point) || !isVisible(before)) return false;
    return isVisible(after) || ((run === "\ufe0e" || run === "\ufe0f") && isEmoji(before));
  }
  // As in a heart on fire.
  if (run === "\ufe0f\u200d") return isEmoji(before) && isEmoji(after);
  return before === BLACK_FLAG && FLAG_TAGS.has(run);
}

const sizeOf = (point: number): number => (point > 0xffff ? 2 : 1);

/** Before the first character and after the last: white space. */
const NOTHING = 0x20;
const BLACK_FLAG = 0x1_f3f4;
/** What follows the black flag in those of England, Scotland and Wales: no other emoji has tag characters, which can carry a text. */
const FLAG_TAGS: ReadonlySet<string> = new Set(
  ["gbeng", "gbsct", "gbwls"].map((region) =>
    [...region, "\x7f"].map((letter) => String.fromCodePoint(0xe_0000 + letter.charCodeAt(0))).join(""),
  ),
);

/**
 * Characters that a person who looks at a text does not see, or sees in another order than a model reads them: format, bidirectional and tag
 * characters, fillers, controls beyond those that JSON escapes, separators, empty symbols.
 */
const HIDDEN_RUN = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u007f-\u009f\u2028\u2029\u2800\u{16fe4}\u{1d159}]+/gu;
/** Joiners, directional marks, variation selectors: writing needs one at a time. */
const SINGLE_RUN = /[\u200c-\u200f]+|\u061c|[\ufe00-\ufe0f]+/gu;
const EMOJI = /[\p{Emoji_Presentation}\p{Extended_Pictographic}]/u;

/** Without the flag `g`: with it, `test` would go on where it ended. */
const ANY_HIDDEN = new RegExp(HIDDEN_RUN.source, "u");

const VISIBLE = 0;
const BLANK = 1;
const HIDDEN = 2;
const SINGLE = 3;

/** Kinds of the first two planes' characters. A look-up here takes a tenth of a match with a class of Unicode. */
const KINDS = new Uint8Array(0x2_0000);

let all = "";
for (let point = 0; point < KINDS.length; point += 1) all += isSurrogate(point) ? "a" : String.fromCodePoint(point);
for (const [kind, pattern] of [[BLANK, /\s+/gu] as const, [HIDDEN, HIDDEN_RUN] as const, [SINGLE, SINGLE_RUN] as const]) {
  for (const { 0: run, index } of all.matchAll(pattern)) {
    // Those beyond U+FFFF take two units of the text.
    const first = index < 0x1_0000 ? index : (index + 0x1_0000) / 2;
    KINDS.fill(kind, first, first + [...run].length);
  }
}

/** In the other planes, U+E0000 to U+E0FFF are hidden: tags, and variation selectors. */
function kindOf(point: number): number {
  if (point < KINDS.length) return KINDS[point] ?? VISIBLE;
  if (point >> 12 !== 0xe0) return VISIBLE;
  return point >= 0xe_0100 && point <= 0xe_01ef ? SINGLE : HIDDEN;
}

function isSurrogate(point: number): boolean {
  return point >> 11 === 0x1b;
}

/** @param point a code point, as for the others here */
export const isHidden = (point: number): boolean => kindOf(point) >= HIDDEN;
const isSingle = (point: number): boolean => kindOf(point) === SINGLE;
const isVisible = (point: number): boolean => kindOf(point) === VISIBLE;
const isEmoji = (point: number): boolean => EMOJI.test(String.fromCodePoint(point));
