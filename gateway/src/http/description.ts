import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Router, type RequestHandler } from "express";
import { openApiDocument } from "./openapi.ts";
import { requireMethod } from "./method.ts";
import { contextOf } from "./request-context.ts";

const REDOC = readFileSync(createRequire(import.meta.url).resolve("redoc/bundles/redoc.standalone.js"));

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Brand Records API</title>
<style>body { margin: 0 }</style>
</head>
<body>
<redoc spec-url="openapi/service.yaml" disable-search="false" hide-hostname="false"></redoc>
<script src="docs/redoc.standalone.js"></script>
</body>
</html>
`;

/** Scripts from here only; Redoc needs inline styles and a worker made from a blob for its search. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; worker-src blob:; base-uri 'none'; frame-ancestors 'none'";

/** The description for machines and for people. Needs no key. */
export function descriptionRouter(publicUrl: string): Router {
  const document = openApiDocument(publicUrl);
  const router = Router({ caseSensitive: true, strict: true });
  router.all("/openapi/service.yaml", reading("/openapi/service.yaml"), (_request, response) => {
    response.type("application/yaml").set("Cache-Control", "public, max-age=300").send(document);
  });
  router.all("/docs", reading("/docs"), (_request, response) => {
    response.type("html").set({ "Cache-Control": "public, max-age=300", "Content-Security-Policy": PAGE_POLICY }).send(PAGE);
  });
  router.all("/docs/redoc.standalone.js", reading("/docs/redoc.standalone.js"), (_request, response) => {
    response.type("js").set("Cache-Control", "public, max-age=86400").send(REDOC);
  });
  return router;
}

function reading(route: string): RequestHandler {
  return (request, response, next) => {
    contextOf(response).route = route;
    requireMethod(request, response, "GET, HEAD");
    next();
  };
}
