import type { Attributes } from "@opentelemetry/api";
import { ATTRIBUTES } from "./attributes.ts";
import type { TraceSpan } from "./span.ts";

export interface ServedRequest {
  readonly method: string;
  /** The route that matched, never the path. */
  readonly route: string;
  readonly status: number;
  readonly errorKind: string | undefined;
  readonly ids: Attributes;
}

/** Ends the span of a request that was served: names it by method and route, and marks it as failed if the status is 5xx. */
export function endHttpSpan(span: TraceSpan | undefined, { method, route, status, errorKind, ids }: ServedRequest): void {
  if (span === undefined) return;
  span.rename(`${method} ${route}`);
  span.set({ [ATTRIBUTES.httpMethod]: method, [ATTRIBUTES.httpRoute]: route, [ATTRIBUTES.httpStatus]: status, ...ids });
  if (status >= 500) span.fail(errorKind ?? String(status));
  span.end();
}
