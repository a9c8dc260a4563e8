import { AppError, type ProblemDetail } from "@brand-records/errors";
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, type ResourceName } from "@brand-records/resources";
import type { CallContext } from "@brand-records/rpc";
import { z } from "zod";
import type { Services } from "../services.ts";

const LIMIT_PROBLEM = `limit must be a whole number from 1 to ${PAGE_LIMIT_MAX}, in digits only`;

/**
 * The arguments of every list operation, as they arrive: text. The limit is refused rather than clamped: a client that
 * compares `count` with the limit it asked for would take a clamped page for the last one.
 */
export const pageArguments = z.strictObject({
  limit: z
    .string(LIMIT_PROBLEM)
    .regex(/^[1-9][0-9]{0,2}$/, LIMIT_PROBLEM)
    .transform(Number)
    .refine((limit) => limit <= PAGE_LIMIT_MAX, LIMIT_PROBLEM)
    .default(PAGE_LIMIT_DEFAULT),
  /** Read by the records service, which made it. */
  cursor: z.string("cursor must be text: the next_cursor of the page before").optional(),
  since: z.string("since must be text: an RFC 3339 time with an offset").optional(),
});

export type PageArguments = z.output<typeof pageArguments>;

/** A page in the form in which it is answered, over HTTP and to assistants alike. */
export interface ListAnswer {
  readonly resource: ResourceName;
  readonly count: number;
  readonly data: readonly object[];
  /** Present if and only if the page is full. */
  readonly next_cursor?: string;
}

export interface ListOperation {
  readonly resource: ResourceName;
  /** The assistant tool's name. */
  readonly tool: `list_${ResourceName}`;
  readonly summary: string;
  /** For models: what the records tell, and when to read them rather than others. */
  readonly guide: string;
  /** @throws AppError */
  list(services: Services, brandId: string, page: PageArguments, context: CallContext): Promise<ListAnswer>;
}

type PageRequest = { brand_id: string; limit: number; cursor: string | null; since: string | null };
type PageResponse = { data: readonly object[]; next_cursor?: string | null | undefined };

interface ListDeclaration {
  readonly resource: ResourceName;
  readonly summary: string;
  readonly guide: string;
  fetch(services: Services, request: PageRequest, context: CallContext): Promise<PageResponse>;
}

/** Declares a list operation once; the REST route, its description and the assistant tool derive from it. */
export function defineList({ resource, summary, guide, fetch }: ListDeclaration): ListOperation {
  return {
    resource,
    tool: `list_${resource}`,
    summary,
    guide,
    async list(services, brandId, { limit, cursor, since }, context) {
      const request = { brand_id: brandId, limit, cursor: cursor ?? null, since: since ?? null };
      const { data, next_cursor } = await fetch(services, request, context);
      return { resource, count: data.length, data, ...(next_cursor != null && { next_cursor }) };
    },
  };
}

const ARGUMENT_NAMES = Object.keys(pageArguments.shape);

/**
 * Checks the arguments of a list. Unknown ones are refused: a typed-wrong filter must not return everything, and
 * `brand_id` must never look as if it had worked.
 *
 * @param given a map, so that `__proto__` is one more unknown name
 * @throws AppError `invalid_parameter`; `field` names the first that is wrong, `details` all if there are several
 */
export function parsePageArguments(given: ReadonlyMap<string, unknown>): PageArguments {
  const unknown = [...given.keys()].filter((name) => !ARGUMENT_NAMES.includes(name));
  const known = Object.fromEntries([...given].filter(([name]) => ARGUMENT_NAMES.includes(name)));
  const parsed = pageArguments.safeParse(known);
  if (parsed.success && unknown.length === 0) return parsed.data;
  const problems = [
    ...unknown.slice(0, PROBLEMS_MAX).map((name) => ({
      field: name.slice(0, FIELD_LENGTH_MAX),
      message: `There is no parameter ${quoted(name)} here: lists have ${ARGUMENT_NAMES.join(", ")}, and no filters.`,
    })),
    ...(parsed.error?.issues ?? []).map(({ path, message }) => ({ field: String(path[0]), message })),
  ];
  throw invalidParameters(problems, unknown.length + (parsed.error?.issues.length ?? 0));
}

/** Enough to fix a call by; a body of 768 KiB can hold a hundred thousand. */
const PROBLEMS_MAX = 20;
const FIELD_LENGTH_MAX = 64;

/**
 * @param problems at least one
 * @param count of all there are, of which `problems` may be the first
 */
export function invalidParameters(problems: readonly ProblemDetail[], count = problems.length): AppError {
  const [first] = problems;
  const others = count > 1 ? ` (${count} problems in all, see details)` : "";
  return new AppError("invalid_parameter", `${first?.message}${others}`, {
    ...(first !== undefined && { field: first.field }),
    ...(problems.length > 1 && { details: problems.slice(0, PROBLEMS_MAX) }),
  });
}

/** What a caller wrote, safe to repeat. */
function quoted(name: string): string {
  return JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}…` : name);
}
