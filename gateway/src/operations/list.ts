import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, type ResourceName } from "@brand-records/resources";
import type { CallContext } from "@brand-records/rpc";
import { z } from "zod";
import type { Services } from "../services.ts";

const LIMIT_PROBLEM = `limit has to be a whole number from 1 to ${PAGE_LIMIT_MAX}, in digits only`;

/**
 * The arguments of every list operation, as they arrive: text. The limit is refused rather than clamped: a client that
 * compares `count` with the limit it asked for would take a clamped page for the last one.
 */
export const pageArguments = z.strictObject({
  limit: z
    .string()
    .regex(/^[1-9][0-9]{0,2}$/, LIMIT_PROBLEM)
    .transform(Number)
    .refine((limit) => limit <= PAGE_LIMIT_MAX, LIMIT_PROBLEM)
    .default(PAGE_LIMIT_DEFAULT),
  /** Read by the records service, which made it. */
  cursor: z.string().optional(),
  since: z.string().optional(),
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
  /** @throws AppError */
  list(services: Services, brandId: string, page: PageArguments, context: CallContext): Promise<ListAnswer>;
}

type PageRequest = { brand_id: string; limit: number; cursor: string | null; since: string | null };
type PageResponse = { data: readonly object[]; next_cursor?: string | null | undefined };

/** Declares a list operation once; the REST route, its description and the assistant tool derive from it. */
export function defineList(
  resource: ResourceName,
  summary: string,
  fetch: (services: Services, request: PageRequest, context: CallContext) => Promise<PageResponse>,
): ListOperation {
  return {
    resource,
    tool: `list_${resource}`,
    summary,
    async list(services, brandId, { limit, cursor, since }, context) {
      const request = { brand_id: brandId, limit, cursor: cursor ?? null, since: since ?? null };
      const { data, next_cursor } = await fetch(services, request, context);
      return { resource, count: data.length, data, ...(next_cursor != null && { next_cursor }) };
    },
  };
}
