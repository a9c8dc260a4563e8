import { AppError, othersIn, type ProblemDetail, PROBLEMS_MAX, unknownNames } from "@brand-records/errors";
import {
  CURSOR_FORM,
  fieldNames,
  type FilterName,
  filterProblem,
  type Filters,
  filterSchema,
  instantProblem,
  isEmptyRange,
  normalizedTime,
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
  parseInstant,
  type Resource,
} from "@brand-records/resources";
import { z } from "zod";
import { integer, type JsonSchema } from "./json-schema.ts";
import type { Operation, Via } from "./operation.ts";

const LIMIT_PROBLEM = `limit must be a whole number from 1 to ${PAGE_LIMIT_MAX}, digits only`;

/**
 * In a query, a limit is text. Assistants send a number, and some models text. A limit out of range is refused rather than
 * clamped: a client that compares `count` with the limit it sent would take a clamped page for the last one.
 */
const pageArguments = z.object({
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
  since: z
    .string("since must be text: an RFC 3339 time with an offset")
    .overwrite(normalizedTime)
    .refine((text) => parseInstant(text) !== undefined, { error: ({ input }) => `since ${instantProblem(String(input))}` })
    .optional(),
});

type BasicArguments = z.output<typeof pageArguments>;

export interface PageArguments extends BasicArguments {
  /** The filters as given; undefined if there are none. */
  readonly filters?: Filters;
  /** The fields that records have, in their order; undefined for all. */
  readonly fields?: readonly string[];
}

const BASIC_NAMES = Object.keys(pageArguments.shape);

/** What a filter keeps, for models and for readers of the OpenAPI description. */
const FILTER_DESCRIPTIONS: Readonly<Record<FilterName, string>> = {
  id: "Only the record with this id.",
  campaign_id: "Only records of this campaign.",
  link_id: "Only records of this link.",
  creator_id: "Only records of this creator.",
  external_id: "Only this order number.",
  status: "Only records with this status.",
  created_from: "Created at or after this RFC 3339 time with an offset.",
  created_before: "Created before this RFC 3339 time with an offset.",
};

export const pageInput = (resource: Resource): Operation<PageArguments>["input"] => ({
  from: "query",
  parameters: {
    limit: { description: "Records per page. A larger or malformed number is refused, not clamped." },
    cursor: { description: "`next_cursor` of the page before, unchanged. Opaque. Keep the other parameters as they were." },
    since: {
      deprecated: true,
      description:
        "Only records created strictly later than this RFC 3339 time with an offset (write `+` as `%2B`; at most nine digits of a second, no leap second). Superseded by `cursor`: paging with `since` skips records that share the timestamp of a page's last record. Neither parameter is an update feed.",
    },
    ...Object.fromEntries(resource.filters.map((name) => [name, { description: restDescription(name) }])),
  },
  schema: {
    type: "object",
    properties: {
      limit: {
        ...integer({ minimum: 1, maximum: PAGE_LIMIT_MAX }),
        default: PAGE_LIMIT_DEFAULT,
        description: `10 to look; to walk ${PAGE_LIMIT_MAX} with fields, else 100 (${tokens(100 * resource.tokens.whole)} tokens).`,
      },
      cursor: { type: "string", ...CURSOR_FORM, description: "next_cursor of the page before, unchanged." },
      since: { type: "string", format: "date-time", description: "Created strictly later. Use created_from instead." },
      fields: {
        type: "array",
        items: { type: "string", enum: fieldNames(resource) },
        description: `Those you need, beside id: ${PAGE_LIMIT_MAX} with ${resource.typicalFields.join(", ")} are ${tokens(PAGE_LIMIT_MAX * resource.tokens.typical)} tokens. ${resource.values}`,
      },
      ...Object.fromEntries(resource.filters.map((name) => [name, toolSchema(resource, name)])),
    },
    additionalProperties: false,
  },
  parse: (given, via) => parsePageArguments(resource, given, via),
});

/** What `format: date-time` allows beyond what is accepted. */
const TIME_FORM = "At most nine digits of a second, no leap second; a blank for `T` and `+0800` are read too.";

const restDescription = (name: FilterName): string =>
  [
    FILTER_DESCRIPTIONS[name],
    ...(name === "created_before" ? ["Refused if it is not later than `created_from`."] : []),
    ...(name.startsWith("created_") ? [TIME_FORM] : []),
    ...(name.startsWith("created_") || name === "external_id" ? ["Write `+` as `%2B`."] : []),
  ].join(" ");

function toolSchema(resource: Resource, name: FilterName): JsonSchema {
  const { $schema: _, description: __, ...schema } = z.toJSONSchema(filterSchema(resource, name)) as JsonSchema;
  return { ...schema, description: FILTER_DESCRIPTIONS[name] };
}

const tokens = (count: number): string => (Math.round(count / 500) * 500).toLocaleString("en");

/** Returns a record with these fields only. */
export const picked = (record: object, fields: readonly string[]): object =>
  Object.fromEntries(fields.map((name) => [name, (record as Record<string, unknown>)[name]]));

/**
 * Checks the arguments of a list. Unknown names are refused: a mistyped filter must not return everything, and
 * `brand_id` must never appear to work.
 *
 * @throws AppError `invalid_parameter`; `field` names the first wrong argument; `details` lists all if there are several
 */
function parsePageArguments(resource: Resource, given: unknown, via: Via): PageArguments {
  const values = given as Readonly<Record<string, unknown>>;
  const isGiven = (name: string): boolean => Object.hasOwn(values, name);
  const names = [...BASIC_NAMES, ...(via === "assistant" ? ["fields"] : []), ...resource.filters];
  const unknown = unknownNames(values, (name) => names.includes(name));
  const filters: { [Name in FilterName]?: string } = {};
  const malformed: ProblemDetail[] = [];
  for (const name of resource.filters.filter(isGiven)) {
    const given = values[name];
    const value = name.startsWith("created_") && typeof given === "string" ? normalizedTime(given) : given;
    const problem = filterProblem(resource, name, value);
    if (problem === undefined) filters[name] = value as string;
    else malformed.push({ field: name, message: `${name} ${problem}` });
  }
  if (isEmptyRange(filters)) malformed.push({ field: "created_before", message: "created_before must be later than created_from" });
  const fields = via === "assistant" && isGiven("fields") ? fieldsFrom(resource, values["fields"]) : undefined;
  if (typeof fields === "string") malformed.push({ field: "fields", message: fields });
  const parsed = pageArguments.safeParse(Object.fromEntries(BASIC_NAMES.filter(isGiven).map((name) => [name, values[name]])));
  if (parsed.success && unknown.length === 0 && malformed.length === 0) {
    return { ...parsed.data, ...(Object.keys(filters).length > 0 && { filters }), ...(Array.isArray(fields) && { fields }) };
  }
  throw invalidParameters([
    ...unknown.map((name) => ({ field: name, message: unknownMessage(resource, name, names) })),
    ...(parsed.error?.issues ?? []).map(({ path, message }) => ({ field: String(path[0]), message })),
    ...malformed,
  ]);
}

/**
 * Returns the fields that were asked for and `id`, in the resource's order; undefined for all, as clients that fill every argument send an
 * empty array; or what is wrong with them.
 */
function fieldsFrom(resource: Resource, given: unknown): string[] | string | undefined {
  const names = fieldNames(resource);
  if (!Array.isArray(given) || !given.every((name) => names.includes(name)))
    return `fields must be an array of names of fields: ${names.join(", ")}`;
  return given.length === 0 ? undefined : names.filter((name) => name === "id" || given.includes(name));
}

const unknownMessage = ({ name: resource }: Resource, name: string, names: readonly string[]): string =>
  `There is no parameter ${quoted(name)}: the list of ${resource} takes ${names.join(", ")}. To select by anything else, page and compare it in each record.`;

const FIELD_LENGTH_MAX = 64;

/** @param problems at least one; the first ones are reported */
export function invalidParameters(problems: readonly ProblemDetail[]): AppError {
  const reported = problems.slice(0, PROBLEMS_MAX).map(({ field, message }) => ({ field: shortened(field), message }));
  const [first] = reported;
  return new AppError("invalid_parameter", `${first?.message}${othersIn(problems)}`, {
    ...(first !== undefined && { field: first.field }),
    ...(reported.length > 1 && { details: reported }),
  });
}

/** Strict JSON readers refuse half an emoji: a caller may have sent one, and the cut may leave one. */
const shortened = (field: string): string => field.slice(0, FIELD_LENGTH_MAX).toWellFormed();

/** A caller's text, safe to repeat. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}…` : name);
}
