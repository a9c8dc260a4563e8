import { accessLog } from "@brand-records/edge";
import { Counter, Histogram, type Logger, type Registry, SECONDS_BUCKETS } from "@brand-records/telemetry";
import type { RequestHandler } from "express";
import { OPERATIONS } from "../operations/index.ts";
import type { KeyedRequest } from "../usage/usage-counts.ts";
import type { UsageRecorder } from "../usage/usage-recorder.ts";
import { productOf } from "./mcp/client-name.ts";
import { ASSISTANTS_PATH } from "./mcp/server-info.ts";
import type { RequestContext } from "./request-context.ts";

export interface LogRequestsOptions {
  readonly log: Logger;
  readonly metrics: Registry;
  readonly usage: Pick<UsageRecorder, "countRequest">;
  /** Whose failures alerts count. */
  readonly routes: readonly string[];
}

/** Logs and counts every request; those for operations and messages of assistants by what they ask for, too, and for brands those with a key. */
export function logRequests({ log, metrics, usage, routes }: LogRequestsOptions): RequestHandler {
  const operations = new Histogram({
    name: "operation_duration_seconds",
    help: "Time from the headers of a request for an operation to the end of its response, whether a program or an assistant called it.",
    labelNames: ["operation", "via", "error"],
    buckets: SECONDS_BUCKETS,
    registers: [metrics],
  });
  const messages = new Counter({
    name: "mcp_messages_total",
    help: "Messages of assistants by method, protocol generation, tool and error. A tool's refusal counts as an error.",
    labelNames: ["method", "generation", "tool", "error"],
    registers: [metrics],
  });
  return accessLog<RequestContext>({
    log,
    metrics,
    routes,
    fieldsOf: ({ rpc }) => ({ rpc_method: rpc?.method, rpc_generation: rpc?.generation, tool: rpc?.tool }),
    onServed(context, { method: httpMethod, status, seconds }) {
      const { rpc, operation, errorKind } = context;
      const request = keyedRequestOf(context, httpMethod, status, seconds);
      if (request !== undefined) usage.countRequest(request);
      if (rpc !== undefined) {
        const { method, generation = "none", tool = "none" } = rpc;
        messages.inc({ method, generation, tool, error: errorKind ?? "none" });
      }
      if (operation === undefined) return;
      const { name, via } = operation;
      operations.observe({ operation: name, via, error: status === 499 ? "client_gone" : (errorKind ?? "none") }, seconds);
    },
  });
}

/** The names that each operation's input has. */
const FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  OPERATIONS.map(({ name, input }) => [name, new Set(Object.keys(input.schema.properties))]),
);
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
/** Stands for a name that the input does not have: a caller may write anything there. */
const UNKNOWN_FIELD = "*";

/**
 * Returns what brands see of a request; undefined for one without a valid key: it belongs to no brand. It holds neither a message nor anything
 * that the request held, but for the caller's own request id and the client's name.
 */
export function keyedRequestOf(context: RequestContext, method: string, status: number, seconds: number): KeyedRequest | undefined {
  const { brandId, keyId, errorKind, requestId, userAgent } = context;
  if (brandId === undefined || keyId === undefined) return undefined;
  return {
    brand_id: brandId,
    key_id: keyId,
    route: routeOf(context, method),
    http_status: status,
    code: errorKind ?? "",
    field: fieldOf(context),
    isFailure: errorKind !== undefined && !offersNoStream(context, method),
    duration_ms: Math.ceil(seconds * 1_000),
    request_id: requestId,
    client: productOf(userAgent),
  };
}

/** Assistants ask for a stream each time they connect, and take the refusal, which the protocol prescribes, for "there is none". */
const offersNoStream = ({ route, errorKind }: RequestContext, method: string): boolean =>
  method === "GET" && route === ASSISTANTS_PATH && errorKind === "method_not_allowed";

function routeOf({ route, rpc }: RequestContext, method: string): string {
  const path = `${METHODS.has(method) ? method : "OTHER"} ${route}`;
  if (rpc === undefined) return path;
  return rpc.tool === undefined ? `${path} ${rpc.method}` : `${path} ${rpc.method} ${rpc.tool}`;
}

/** The outermost name: `requirements` of `requirements[2]`. */
function fieldOf({ operation, errorField }: RequestContext): string {
  if (errorField === undefined) return "";
  const [name = ""] = /^[a-z_]*/.exec(errorField) ?? [];
  return operation !== undefined && FIELDS.get(operation.name)?.has(name) ? name : UNKNOWN_FIELD;
}
