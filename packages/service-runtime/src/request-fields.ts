import { idPattern, idRule } from "@brand-records/ids";
import { z } from "zod";

export const idField = (prefix: string): z.ZodString => z.string().regex(idPattern(prefix), idRule(prefix));

/** The size of a page; 0 means the default. */
export const pageSizeField = (size: { readonly default: number; readonly max: number }): z.ZodType<number> =>
  z
    .int()
    .min(0, "must not be negative")
    .max(size.max, `must be at most ${size.max}`)
    .transform((requested) => requested || size.default);

/** Returns the id after which the next page begins, or null after the last page. A full page may be followed by an empty one. */
export const nextAfterId = (page: readonly { readonly id: string }[], pageSize: number): string | null =>
  page.length === pageSize ? (page.at(-1)?.id ?? null) : null;

/** E-mail addresses are compared in lower case. */
export const emailField = (): z.ZodEmail => z.email("must be an e-mail address").max(254).toLowerCase();

/** What takes the place of an erased person's address. */
export const pseudonymField: z.ZodString = z.string().regex(/^erased_[0-9a-z]{26}$/, "must be a pseudonym");

/** What shows by itself: no blank (U+2800 is one), and nothing invisible, such as a joiner between emoji or a zero-width space. */
const VISIBLE = /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** Embeddings, overrides and isolates turn around the text that stands after a name. Marks, which Arabic and Hebrew need, do not. */
const REORDERING = /[\u202A-\u202E\u2066-\u206F]/;

/** A name that people choose and others see, of any script, trimmed. @param max in code points, as people count: one emoji is one character */
export const nameField = (max: number): z.ZodString =>
  z
    .string()
    .trim()
    .refine((text) => VISIBLE.test(text), {
      error: ({ input }) => (input === "" ? "must not be empty" : "must contain a character that shows"),
    })
    .refine((text) => [...text].length <= max, `must be at most ${max} characters`)
    .refine((text) => text.isWellFormed() && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text), "must not contain control characters")
    .refine((text) => !REORDERING.test(text), "must not contain characters that reorder text");
