import { z } from "zod";
import { countCharacters } from "./limits.ts";

/** A character other than white space, control and format characters (zero-width, bidirectional), fillers, the empty Braille cell. */
const VISIBLE = /[^\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** C0, DEL and C1: line breaks, tabs and terminal controls. */
const CONTROL = /\p{Cc}/u;

interface TextRules {
  readonly min?: number;
  readonly max: number;
  /** Refuses control characters, for text that is shown on one line. */
  readonly isOneLine?: boolean;
  /** Requires at least one visible character. */
  readonly isVisible?: boolean;
}

/** Text that is stored as given: no trimming, no normalisation. Reports only the first problem of a value. */
export const text = ({ min = 0, max, isOneLine = false, isVisible = false }: TextRules) => {
  const rule = (holds: (value: string) => boolean, error: string) => z.refine<string>(holds, { error, abort: true });
  return z
    .string("must be text")
    .check(
      rule((value) => countCharacters(value) >= min, "must not be empty"),
      rule((value) => countCharacters(value) <= max, `must be at most ${max.toLocaleString("en")} characters`),
      rule((value) => value.isWellFormed() && !value.includes("\0"), "must not contain NUL or lone surrogates"),
      ...(isOneLine ? [rule((value) => !CONTROL.test(value), "must not contain control characters such as line breaks")] : []),
      ...(isVisible ? [rule((value) => VISIBLE.test(value), "must contain at least one visible character")] : []),
    )
    .meta({ ...(min > 0 && { minLength: min }), maxLength: max });
};

export const list = (lengthMax: number, entry: TextRules) =>
  z
    .array(text(entry), "must be a list of text entries")
    .min(1, `must have 1 to ${lengthMax} entries`)
    .max(lengthMax, `must have 1 to ${lengthMax} entries`);

/** Returns whether the text is `YYYY-MM-DD` and a real day, from year 1 to 9999. */
export function isCalendarDate(value: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value) || value.startsWith("0000")) return false;
  const day = new Date(`${value}T00:00:00Z`);
  // Date turns 30 February into a day of March instead of refusing it.
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(value);
}

export const date = () =>
  z.string("must be a date as YYYY-MM-DD, as text").refine(isCalendarDate, "must be a real date as YYYY-MM-DD, such as 2026-12-31");
