/**
 * Makes text from records and names safe for a terminal: control characters and bidirectional overrides, with which a name
 * could move the cursor or pose as another, become U+FFFD.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, "\ufffd");
}

/** Splits a text into its lines. Tabs become spaces; other control characters are replaced. */
export function printableLines(text: string): string[] {
  return text.split(/\r\n|\r|\n/).map((line) => printable(line.replaceAll("\t", "    ")));
}

const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const ZERO = /\p{Mn}|\p{Me}|\p{Cf}/u;
/** A narrow character that a variation selector makes a wide emoji. */
const WIDENED = /(?!\p{Emoji_Presentation})\p{Emoji}\ufe0f/gu;

/** Returns the columns that the text takes on a terminal: where terminals differ, the most. */
export function widthOf(text: string): number {
  let width = text.match(WIDENED)?.length ?? 0;
  for (const character of text) {
    if (!ZERO.test(character)) width += WIDE.test(character) ? 2 : 1;
  }
  return width;
}

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Returns a printable text that takes at most this many columns: `…` stands for what is cut off. Cuts no character in two. */
export function shortened(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = "";
  let width = 1;
  for (const { segment } of GRAPHEMES.segment(text)) {
    width += widthOf(segment);
    if (width > columns) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}

/** Breaks a printable text between words into lines of at most this many columns. A longer word stays whole. */
export function wrapped(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(last) + 1 + widthOf(word) <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
