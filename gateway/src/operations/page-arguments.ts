import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from "@brand-records/resources";
import { z } from "zod";
import { integer } from "./json-schema.ts";
import type { Operation } from "./operation.ts";
import { invalidParameters, PROBLEMS_MAX, quoted } from "./problems.ts";

const LIMIT_PROBLEM = `limit must be a whole number from 1 to ${PAGE_LIMIT_MAX}, digits only`;

/**
 * In a query, a limit is text. Assistants send a number, and some models text. A limit out of range is refused rather than
 * clamped: a client that compares `count` with the limit it sent would take a clamped page for the last one.
 */
const pageArguments = z.strictObject({
  limit: z
    .preprocess(
      (value) => (typeof value === "number" ? String(value) : value),
      z
        .string(LIMIT_PROBLEM)
        .regex(/^[1-9][0-9]{0,2}$/, LIMIT_PROBLEM)
        .transform(Number)
        .refine((limit) => limit <= PAGE_LIMIT_MAX, LIMIT_PROBLEM),
    )
    .default(PAGE_LIMIT_DEFAULT),
  /** Parsed by the records service, which issued it. */
  cursor: z.string("cursor must be text: the next_cursor of the page before").optional(),
  since: z.string("since must be text: an RFC 3339 time with an offset").optional(),
});

export type PageArguments = z.output<typeof pageArguments>;

const NAMES = Object.keys(pageArguments.shape);

/** @param tokensPerRecord what a record costs a model, on average */
export const pageInput = (tokensPerRecord: number): Operation<PageArguments>["input"] => ({
  from: "query",
  parameters: {
    limit: { description: "Records per page. A larger or malformed number is refused, not clamped." },
    cursor: { description: "`next_cursor` of the page before, unchanged. Opaque. Keep the other parameters as they were." },
    since: {
      deprecated: true,
      description:
        "Only records created strictly later than this RFC 3339 time with an offset (write `+` as `%2B`). Superseded by `cursor`: paging with `since` skips records that share the timestamp of a page's last record. Neither parameter is an update feed.",
    },
  },
  schema: {
    type: "object",
    properties: {
      limit: {
        ...integer({ minimum: 1, maximum: PAGE_LIMIT_MAX }),
        default: PAGE_LIMIT_DEFAULT,
        description: `Records per page: 10 to look, 100 to walk (about ${tokens(100 * tokensPerRecord)} tokens). ${PAGE_LIMIT_MAX} are about ${tokens(PAGE_LIMIT_MAX * tokensPerRecord)} tokens.`,
      },
      cursor: {
        type: "string",
        description: "next_cursor of the page before, unchanged. Leave it out for the newest records.",
      },
      since: {
        type: "string",
        format: "date-time",
        description:
          "Only records created strictly after this RFC 3339 time with an offset, such as 2026-11-01T00:00:00+08:00. It finds new records, not changed ones, and looks at no other time. Keep it the same while paging.",
      },
    },
    additionalProperties: false,
  },
  parse: parsePageArguments,
});

const tokens = (count: number): string => (Math.round(count / 500) * 500).toLocaleString("en");

/**
 * Checks the arguments of a list. Unknown names are refused: a mistyped filter must not return everything, and
 * `brand_id` must never appear to work.
 *
 * @throws AppError `invalid_parameter`; `field` names the first wrong argument; `details` lists all if there are several
 */
function parsePageArguments(given: unknown): PageArguments {
  const entries = Object.entries(given as object);
  const unknown = entries.map(([name]) => name).filter((name) => !NAMES.includes(name));
  const parsed = pageArguments.safeParse(Object.fromEntries(entries.filter(([name]) => NAMES.includes(name))));
  if (parsed.success && unknown.length === 0) return parsed.data;
  const issues = parsed.error?.issues ?? [];
  const problems = [
    ...unknown.slice(0, PROBLEMS_MAX).map((name) => ({
      field: name,
      message: `There is no parameter ${quoted(name)}: lists take ${NAMES.join(", ")}, and no filters. Page, and compare status and the other fields in each record.`,
    })),
    ...issues.map(({ path, message }) => ({ field: String(path[0]), message })),
  ];
  throw invalidParameters(problems, unknown.length + issues.length);
}
