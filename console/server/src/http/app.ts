import { accessLog, errorHandler, httpsOnly } from "@brand-records/edge";
import { AppError } from "@brand-records/errors";
import { countServerErrors } from "@brand-records/rpc";
import express, { type Express, type Request, type RequestHandler } from "express";
import { openProviderSignOut } from "../sign-in/provider-sign-out.ts";
import { openProvider } from "../sign-in/provider.ts";
import { serveSignIn } from "../sign-in/routes.ts";
import { serveAssets } from "./web-files.ts";
import { closeIfUnread } from "./body.ts";
import { serveCalls } from "./calls.ts";
import type { AppDependencies } from "./dependencies.ts";
import { sendError } from "./errors.ts";
import { FirstReads } from "./first-reads.ts";
import { only, onPublicHost } from "./request-checks.ts";
import { servePage } from "./pages.ts";
import { contextOf, requestContext } from "./request-context.ts";
import { SessionAdmission } from "./session-admission.ts";

const onlyReads = only("GET", "HEAD");

/** Every path that shows the page; its script decides what to show. */
const PAGES = ["/sign-in", "/developers", "/developers/*path", "/workspaces", "/workspaces/*path"];

/** Returns the application: every check and handler of a request, in order. */
export function createApp(deps: AppDependencies): Express {
  const { config, web, log, metrics } = deps;
  const provider = openProvider(config);
  const providerSignOut = provider && openProviderSignOut({ ...deps, provider });
  const sessions = new SessionAdmission(deps.services, config);
  const calls = { ...deps, provider, providerSignOut, sessions };
  const showPage = servePage(web, new FirstReads(calls));
  const serverErrors = countServerErrors(metrics);
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.enable("case sensitive routing");
  app.set("query parser", false);
  app.set("trust proxy", config.TRUST_PROXY);
  app.use(requestContext(config.REQUEST_DEADLINE_MS));
  app.use(accessLog({ log, metrics }));
  app.use(everyResponse(deps));
  app.use(closeIfUnread);
  app.use("/console/assets", onlyReads, serveAssets(web));
  app.use("/console/api", serveCalls(calls));
  if (provider !== undefined && providerSignOut !== undefined) {
    app.use("/auth", serveSignIn({ ...deps, serverErrors, provider, providerSignOut }));
  }
  app.all("/", onlyReads, (_request, response) => response.redirect(302, "/developers"));
  app.all(PAGES, onlyReads, page, onPublicHost(config.PUBLIC_URL), showPage);
  app.use((request, response, next) => {
    if (!isForBrowser(request)) throw new AppError("not_found", "Nothing exists at this path.");
    // The page's script says so, with a link to the first page.
    response.status(404);
    next();
  });
  app.use(page, showPage);
  app.use(errorHandler(serverErrors, sendError));
  return app;
}

/** A browser that opens an address, not a script that calls one. */
const isForBrowser = (request: Request): boolean =>
  ["GET", "HEAD"].includes(request.method) && !request.path.startsWith("/console/") && request.accepts(["json", "html"]) === "html";

function everyResponse({ config, isStopping }: AppDependencies): RequestHandler {
  const headers = new Map(Object.entries({ "X-Content-Type-Options": "nosniff", ...httpsOnly(config.PUBLIC_URL) }));
  return (request, response, next) => {
    response.setHeaders(headers);
    if (isStopping()) response.setHeader("Connection", "close");
    // Node's own refusal has none of the headers.
    if (request.headers.host === undefined && request.httpVersion !== "1.0") {
      throw new AppError("invalid_request", "Send a Host header: HTTP/1.1 requires one.");
    }
    next();
  };
}

const page: RequestHandler = (_request, response, next) => {
  contextOf(response).route = "page";
  response.setHeader("Cache-Control", "no-store");
  next();
};
