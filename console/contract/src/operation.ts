import { z } from "zod";

/**
 * Who may call an operation:
 * - `anyone`: without a session; for signing in only
 * - `session`: a signed-in person
 * - `member`, `owner`: a member or an owner of the brand that the input names as `brand_id`; to everyone else the brand does not exist
 */
export type Needs = "anyone" | "session" | "member" | "owner";

export interface Operation {
  readonly needs: Needs;
  /** Unknown fields are refused. */
  readonly input: z.ZodObject;
  /** Fields that it does not list are removed from a response. */
  readonly output: z.ZodObject;
}

/** Ids of our own records; `prefix_` and 1 to 40 lower-case letters or digits. */
export const id = (prefix: string) =>
  z.string().regex(new RegExp(`^${prefix}_[0-9a-z]{1,40}$`), `must be an id that starts with ${prefix}_`);

/** RFC 3339, UTC, with milliseconds. */
export const time = z.string();

/** What every operation of a brand's member names. Links name no brand: the page asks `locate`. */
export const brandInput = { brand_id: id("brd") } as const;

/** `next_page_token` of the page before. */
export const page_token = z.string().max(1_000).optional();

export const empty = z.strictObject({});
