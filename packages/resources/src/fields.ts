import { idPattern, idRule } from "@brand-records/ids";
import { z } from "zod";
import { EARLIEST_INSTANT, formatInstant, LATEST_INSTANT, parseInstant } from "./instant.ts";

/** The kinds of fields of a record. Their rules decide what the platform may import; their descriptions are the API's reference. */

export const id = (prefix: string) => z.string().regex(idPattern(prefix), idRule(prefix));

/**
 * http or https, a host, no user name or password, no blanks or control characters. A password in a URL would be shown to
 * everyone who reads the record. At least as strict as the checks in services/records/migrations/0001-records.sql: if a line
 * passes here, the database never refuses the whole import because of it.
 */
const WEB_URL = /^https?:\/\/[^/?#\\@ \p{Cc}]+([/?#\\][^ \p{Cc}]*)?$/iu;

const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes("\0");

/** Text of 1 to `max` characters that Postgres and JSON can carry. */
export const text = (max: number) =>
  z
    .string()
    .min(1, "must not be empty")
    .max(max, `must be at most ${max} characters`)
    .refine(isStorable, "must not contain NUL or lone surrogates");

const isRecordTime = (value: string): boolean => {
  const instant = parseInstant(value);
  return instant !== undefined && instant >= EARLIEST_INSTANT && instant <= LATEST_INSTANT;
};

/** RFC 3339 with an offset; normalized to UTC with milliseconds. */
export const time = () =>
  z
    .string()
    .refine(isRecordTime, "must be an RFC 3339 time with an offset, from 2000 to 9999, such as 2026-11-21T08:30:00Z")
    .overwrite((value) => formatInstant(parseInstant(value) ?? 0))
    .meta({ format: "date-time" });

/** An amount of money in centavos; PHP 1.00 is 100. */
export const centavos = () => count();

/** A whole number from 0 to 2^53 - 1: JSON numbers above that lose digits in JavaScript and in many other clients. */
export const count = () =>
  z
    .int({ error: ({ code }) => (code === "too_big" ? `must be at most ${Number.MAX_SAFE_INTEGER}` : "must be a whole number") })
    .min(0, "must not be negative");

export const currency = () => z.literal("PHP", "must be PHP").describe("ISO 4217.");

export const webUrl = () =>
  z
    .url({ protocol: /^https?$/, error: "must be an http or https URL" })
    .max(2_048, "must be at most 2048 characters")
    .refine(isStorable, "must not contain NUL or lone surrogates")
    .refine(
      (value) => !/^https?:/i.test(value) || WEB_URL.test(value),
      "must have a host and no user name, password, blanks or control characters",
    );

/** One of the given values. Clients must expect that a later version adds one. */
export const oneOf = <const Values extends readonly [string, ...string[]]>(...values: Values) =>
  z.enum(values, `must be one of ${values.join(", ")}`);

/** May be null. An import may omit it; the API always returns it. */
export const nullable = <Schema extends z.ZodType>(schema: Schema) => schema.nullable().default(null as never);

/** The first fields of every record. */
export const common = (prefix: string) => ({
  id: id(prefix).describe("Unique within the brand. Never changes."),
  created_at: time().describe("When the record was created. Never changes; lists are ordered by it."),
  updated_at: time().describe("When anything in the record last changed. Its present status dates from then or earlier."),
});

/** An opaque pseudonym, one per brand and creator. */
export const creatorId = () =>
  id("crt").describe("Pseudonym of the creator, one per brand: the same creator has a different one at another brand.");

/** Ids and times that the examples of the resources share, so that they refer to each other. */
export const EXAMPLE = {
  /** What follows the id of a campaign's record. */
  first: {
    created_at: "2026-11-20T08:30:00.000Z",
    updated_at: "2026-11-21T02:15:09.412Z",
    campaign_id: "cmp_01kac5j2x4fd8r3c5w0bqv9e1t",
  },
  creator_id: "crt_01k9zq6e3mfs1t8m8h4ykx7d0a",
  payout_id: "po_01kakdm9s0e4vb2n6p3q8r7t5w",
  link_id: "lnk_01kac6m0v8ftg9h2j3k4n5p6q7",
} as const;
