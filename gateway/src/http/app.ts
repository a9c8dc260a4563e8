import { errorHandler, httpsOnly } from "@brand-records/edge";
import { AppError } from "@brand-records/errors";
import { countServerErrors } from "@brand-records/rpc";
import type { Logger, Registry } from "@brand-records/telemetry";
import compression from "compression";
import express, { type Express, type Request, type RequestHandler, type Response } from "express";
import { type AdmissionDependencies, admit, type AdmittedBrands } from "../auth/admission.ts";
import type { Principal } from "../auth/principal.ts";
import { type Verdict, WINDOW_SECONDS } from "../limits/rate-limiter.ts";
import { OPERATIONS } from "../operations/index.ts";
import type { Services } from "../services.ts";
import type { UsageRecorder } from "../usage/usage-recorder.ts";
import { boundBodies } from "./body.ts";
import { CONSOLE_ROUTE, type ConsoleTarget, forwardToConsole, isConsolePath } from "./console/forward.ts";
import { serveDescription } from "./description.ts";
import { errorDocsOf, pageForm, sendError, wantsPage } from "./errors.ts";
import { requireHost } from "./host.ts";
import { logRequests } from "./log-requests.ts";
import { requireAllowedOrigin, rpcErrorForm, serveMcp } from "./mcp/endpoint.ts";
import { ASSISTANTS_PATH, ASSISTANTS_PATHS } from "./mcp/server-info.ts";
import { OAUTH_PATHS, oauthUnsupported } from "./oauth-unsupported.ts";
import { contextOf, requestContext } from "./request-context.ts";
import { setRateLimitHeaders } from "./responses.ts";
import { operationAt, serveRest } from "./rest.ts";

const GZIP_BYTES_MIN = 1024;
const URL_BYTES_MAX = 8 * 1024;
/** The route of every path under /api at which nothing exists. */
const UNKNOWN_API_ROUTE = "/api/*";

export interface AppDependencies extends AdmissionDependencies {
  readonly services: Services;
  readonly usage: Pick<UsageRecorder, "count" | "countMessage" | "countRequest">;
  readonly publicUrl: string;
  /** Undefined: its paths do not exist. */
  readonly console: ConsoleTarget | undefined;
  readonly trustProxy: number | string | undefined;
  readonly requestDeadlineMs: number;
  /** Origins of web pages that may call the assistants' endpoint: a check against DNS rebinding. CORS is not supported. */
  readonly allowedOrigins: readonly string[];
  readonly log: Logger;
  readonly metrics: Registry;
  /** While true, every response closes its connection. */
  isStopping(): boolean;
}

/** Returns the application: every check and handler of a request, in order. */
export function createApp(deps: AppDependencies): Express {
  const app = express();
  app.disable("x-powered-by");
  app.enable("case sensitive routing");
  app.enable("strict routing");
  app.set("query parser", false);
  if (deps.trustProxy !== undefined) app.set("trust proxy", deps.trustProxy);

  app.use(requestContext(deps.requestDeadlineMs, errorDocsOf(deps.publicUrl)));
  app.use(logRequests({ ...deps, routes: routesThatCanFail(deps.console !== undefined) }));
  app.use(boundBodies(deps.metrics));
  app.use(errorForms);
  app.use(checkUrlAndHost(deps));
  // The description is compressed once, and the console compresses itself: both come before the compression of responses.
  app.use(serveDescription(deps.publicUrl));
  if (deps.console !== undefined) app.use(forwardToConsole(deps.console));
  app.use(compress());
  // Comes before the API: some clients append the well-known path to the endpoint's path.
  app.use(`${ASSISTANTS_PATH}/.well-known`, oauthUnsupported);
  app.all(ASSISTANTS_PATHS, assistants(deps));
  app.use("/api", rest(deps));
  app.use(OAUTH_PATHS, oauthUnsupported);
  app.use(notFound(deps.console !== undefined));
  app.use(errorHandler(countServerErrors(deps.metrics), sendError));
  return app;
}

/** The routes of the API and of the console. What else is served here asks no other process. */
export function routesThatCanFail(hasConsole: boolean): readonly string[] {
  return [...OPERATIONS.map(({ path }) => path), ASSISTANTS_PATH, UNKNOWN_API_ROUTE, ...(hasConsole ? [CONSOLE_ROUTE] : [])];
}

/** Gives errors of every check the protocol's form on the assistants' endpoint. */
const errorForms: RequestHandler = (request, response, next) => {
  if (ASSISTANTS_PATHS.includes(request.path)) {
    const context = contextOf(response);
    context.route = ASSISTANTS_PATH;
    context.errorForm = rpcErrorForm(null);
  }
  next();
};

/** Sets the headers of every response, then checks the Host header and the length of the URL. */
function checkUrlAndHost({ publicUrl, isStopping }: AppDependencies): RequestHandler {
  const headers = new Map(Object.entries({ "X-Content-Type-Options": "nosniff", ...httpsOnly(publicUrl) }));
  return (request, response, next) => {
    response.setHeaders(headers);
    if (isStopping()) response.setHeader("Connection", "close");
    requireHost(request);
    if (request.url.length > URL_BYTES_MAX) throw new AppError("uri_too_long", "The URL is longer than 8 KiB.");
    next();
  };
}

/** The endpoint for assistants. */
function assistants(deps: AppDependencies): RequestHandler {
  const { services, publicUrl, usage } = deps;
  return async (request, response) => {
    requireAllowedOrigin(deps.allowedOrigins, request.headers.origin);
    const principal = await admitCaller(deps, "any", request, response);
    await serveMcp({ services, publicUrl, usage }, principal, request, response);
  };
}

/** Every other path under /api. It needs a key, even if nothing exists there. */
function rest(deps: AppDependencies): RequestHandler {
  return async (request, response) => {
    const context = contextOf(response);
    const operation = operationAt(request.baseUrl + request.path);
    context.route = operation?.path ?? UNKNOWN_API_ROUTE;
    if (operation !== undefined) context.operation = { name: operation.name, via: "rest" };
    const principal = await admitCaller(deps, "integrating", request, response);
    await serveRest(deps.services, principal, operation, request, response);
  };
}

/**
 * Returns whose key a request has, and counts the request.
 *
 * @throws AppError if the key is refused, or the brand's limit is used up
 */
async function admitCaller(deps: AppDependencies, brands: AdmittedBrands, request: Request, response: Response): Promise<Principal> {
  const nameIn = (caller: Principal): void => nameCaller(response, caller);
  const { principal, verdict } = await admit(deps, request.rawHeaders, contextOf(response), brands, nameIn);
  deps.usage.count(principal, verdict.kind === "refused" ? "refused" : "accepted");
  setRateLimitHeaders(response, verdict);
  if (verdict.kind === "refused") throw rateLimited(verdict);
  return principal;
}

/** Names the caller in the access log, and the brand in the response: after replacing a key, its user checks which brand it reads. */
function nameCaller(response: Response, { brand_id, key_id }: Principal): void {
  const context = contextOf(response);
  context.brandId = brand_id;
  context.keyId = key_id;
  response.setHeader("X-Brand-Id", brand_id);
}

function rateLimited({ limit, retryAfterSeconds }: Extract<Verdict, { kind: "refused" }>): AppError {
  const message = `The brand's limit of ${limit} requests in ${WINDOW_SECONDS} seconds is used up. Wait ${retryAfterSeconds} s.`;
  return new AppError("rate_limited", message, { retryAfterSeconds });
}

/** Skips negotiation, and its cost, for requests without Accept-Encoding. */
function compress(): RequestHandler {
  const negotiate = compression({ threshold: GZIP_BYTES_MIN });
  return (request, response, next) => {
    if (request.headers["accept-encoding"] !== undefined) return negotiate(request, response, next);
    response.setHeader("Vary", "Accept-Encoding");
    next();
  };
}

const GUIDES = { path: "/docs/api", text: "Read the guides" };
const REFERENCE = { path: "/docs", text: "Read the API reference" };
const CONSOLE = { path: "/", text: "Go to the console" };

/** Tells programs as JSON that nothing exists at the path, and people as a page. Typed in capitals, the console's paths are found. */
function notFound(hasConsole: boolean): RequestHandler {
  const page = pageForm([...(hasConsole ? [CONSOLE] : []), GUIDES, REFERENCE], "Page not found");
  return (request, response) => {
    if (!wantsPage(request)) {
      throw new AppError(
        "not_found",
        "Nothing exists at this path. The API is described at /openapi/service.yaml, and for people at /docs.",
      );
    }
    // Every path and every id of the console is of lower-case letters.
    const path = request.path.toLowerCase();
    if (hasConsole && request.method === "GET" && path !== request.path && isConsolePath(path)) {
      const query = request.originalUrl.indexOf("?");
      response.redirect(302, query < 0 ? path : path + request.originalUrl.slice(query));
      return;
    }
    contextOf(response).errorForm = page;
    throw new AppError("not_found", "Brand Records has no page at this address. Check it for a typing error.");
  };
}
