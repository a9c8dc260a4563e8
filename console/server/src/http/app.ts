import { AppError } from "@brand-records/errors";
import type { Logger, Registry } from "@brand-records/telemetry";
import express, { type Express, type RequestHandler } from "express";
import type { ConsoleConfig } from "../config.ts";
import type { Services } from "../services.ts";
import { accessLog } from "./access-log.ts";
import { serveAssets } from "./assets.ts";
import { serveCalls } from "./calls.ts";
import { errorHandler } from "./errors.ts";
import { servePage } from "./pages.ts";
import { requestContext } from "./request-context.ts";
import type { WebFiles } from "./web-files.ts";

export interface AppDependencies {
  readonly config: ConsoleConfig;
  readonly services: Services;
  readonly web: WebFiles;
  readonly log: Logger;
  readonly metrics: Registry;
  /** While true, every response closes its connection. */
  isStopping(): boolean;
}

/** Every path that shows the page; its script decides what to show. */
const PAGES = ["/sign-in", "/developers", "/developers/*path", "/workspaces", "/workspaces/*path"];

/** Returns the application: every check and handler of a request, in order. */
export function createApp(deps: AppDependencies): Express {
  const { config, web, log, metrics } = deps;
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.enable("case sensitive routing");
  app.set("query parser", false);
  app.set("trust proxy", config.TRUST_PROXY);
  app.use(requestContext(config.REQUEST_DEADLINE_MS));
  app.use(accessLog(log, metrics));
  app.use(everyResponse(deps));
  app.use("/console/assets", onlyReads, serveAssets(web));
  app.use("/console/api", serveCalls(deps));
  app.all("/", onlyReads, (_request, response) => response.redirect(302, "/developers"));
  app.all(PAGES, onlyReads, servePage(web, config.PUBLIC_URL));
  app.use(() => {
    throw new AppError("not_found", "Nothing exists at this path.");
  });
  app.use(errorHandler(log));
  return app;
}

function everyResponse({ isStopping }: AppDependencies): RequestHandler {
  return (_request, response, next) => {
    response.setHeader("X-Content-Type-Options", "nosniff");
    if (isStopping()) response.setHeader("Connection", "close");
    next();
  };
}

const onlyReads: RequestHandler = (request, response, next) => {
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("Allow", "GET, HEAD");
    throw new AppError("method_not_allowed", "This path supports GET and HEAD only.");
  }
  next();
};
