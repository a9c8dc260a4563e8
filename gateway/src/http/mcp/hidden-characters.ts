/**
 * Characters that a person who looks at a text does not see, or sees in another order than a model reads them: format, bidirectional and tag
 * characters, fillers, controls beyond those that JSON escapes, separators, empty symbols.
 */
const HIDDEN_RUN = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u007f-\u009f\u2028\u2029\u2800\u{16fe4}\u{1d159}]+/gu;
/** Joiners, directional marks, variation selectors: writing needs one at a time. */
const SINGLE_RUN = /[\u200c-\u200f]+|\u061c|[\ufe00-\ufe0f]+/gu;
const EMOJI = /[\p{Emoji_Presentation}\p{Extended_Pictographic}]/u;

/** Without the flag `g`: with it, `test` would go on where it ended. */
export const ANY_HIDDEN = new RegExp(HIDDEN_RUN.source, "u");

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
export const isSingle = (point: number): boolean => kindOf(point) === SINGLE;
export const isVisible = (point: number): boolean => kindOf(point) === VISIBLE;
export const isEmoji = (point: number): boolean => EMOJI.test(String.fromCodePoint(point));
