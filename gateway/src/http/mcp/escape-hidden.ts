/**
 * Characters that a person who looks at a text does not see, or sees in another order than a model reads them: format, bidirectional and tag
 * characters, fillers, controls beyond those that JSON escapes, separators, empty symbols; and `<`, with which texts imitate the markup around them.
 */
const HIDDEN = /[<\u007f-\u009f\u2028\u2029\u2800\u{16fe4}\u{1d159}]|\p{Cf}|\p{Default_Ignorable_Code_Point}/gu;
/** Without one of these there is nothing to escape: most pages are ASCII, and this test costs a twentieth. */
const CANDIDATE = /[<\u007f-\uffff]/;

/**
 * Escapes hidden characters in JSON text as `\uXXXX`, so that hidden instructions show. Outside of strings JSON has none of them, so it
 * parses to the same value.
 */
export function escapeHidden(json: string): string {
  return CANDIDATE.test(json) ? json.replaceAll(HIDDEN, escaped) : json;
}

/** @param character one or, beyond U+FFFF, two UTF-16 units */
function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, "0")}`).join("");
}
