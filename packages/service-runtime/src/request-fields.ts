import { idPattern, idRule } from "@brand-records/typeid";
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
