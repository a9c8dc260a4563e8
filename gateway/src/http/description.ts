import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { RequestHandler } from "express";
import { inYaml, openApiDocument } from "./openapi/document.ts";
import { requireMethod } from "./responses.ts";
import { contextOf } from "./request-context.ts";
import { staticResponse } from "./static-response.ts";

/** Redoc loads its maker's logo from there, which the page's policy refuses, and which would tell the maker of each reader. */
const REDOC_LOGO = "https://cdn.redoc.ly/redoc/logo-mini.svg";
/** A page with lines, in its place. */
const OWN_LOGO =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16' fill='none' stroke='%237b8691'%3E%3Cpath d='M3.5 1.5h9v13h-9zM6 5h4M6 8h4M6 11h4'/%3E%3C/svg%3E";

/** A function, because the text of a constant would stay beside its bytes for as long as the process lives. */
const redoc = (): string =>
  readFileSync(createRequire(import.meta.url).resolve("redoc/bundles/redoc.standalone.js"), "utf8").replaceAll(REDOC_LOGO, OWN_LOGO);

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Brand Records API</title>
<style>body { margin: 0 }</style>
</head>
<body>
<noscript><a href="docs/api">Guides</a>, <a href="openapi/service.yaml">description</a></noscript>
<redoc spec-url="openapi/service.yaml" disable-search="false" hide-hostname="false"></redoc>
<script src="docs/redoc.standalone.js"></script>
</body>
</html>
`;

/**
 * Scripts from this origin only. Redoc needs inline styles, and a worker made from a blob for its search. The sandbox gives the page an
 * origin of its own: a flaw in Redoc's scripts reaches neither the console's pages nor its cookie.
 */
const PAGE_POLICY =
  "sandbox allow-scripts allow-popups allow-downloads; default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; worker-src blob:; base-uri 'none'; frame-ancestors 'none'";

const GUIDES = new URL("../../dist/guides.json", import.meta.url);

interface Guide {
  readonly path: string;
  readonly type: string;
  readonly content: string;
}

/** The pages for integrators, rendered by gateway/guides/build.js. A function, as above. */
function guides(): readonly Guide[] {
  try {
    return JSON.parse(readFileSync(GUIDES, "utf8")) as Guide[];
  } catch (error) {
    throw new Error("The guides are not built: run `npm run build`.", { cause: error });
  }
}

/** The address in the pages and in the description. That of an event's page is part of a signed example. */
const EXAMPLE_ADDRESS = /https:\/\/records\.example(?!\/developers\/events\/)/g;

const CACHE_FIVE_MINUTES = "public, max-age=300";
const CACHE_ONE_DAY = "public, max-age=86400";

/**
 * Serves the OpenAPI description, its rendering for people, and the guides. Needs no key. Every request of the API passes here first: one
 * look-up finds its path among fifty, which Express would compare one by one.
 */
export function serveDescription(publicUrl: string): RequestHandler {
  const served = new Map<string, RequestHandler>();
  const serve = (path: string, content: string, headers: Record<string, string>, address = publicUrl): void => {
    // A function, as the address may have what replacements give a meaning.
    const text = content.replaceAll(EXAMPLE_ADDRESS, () => address);
    served.set(path, staticResponse(text, headers));
  };
  const description = openApiDocument();
  for (const [form, content] of Object.entries({ yaml: inYaml(description), json: JSON.stringify(description) })) {
    serve(`/openapi/service.${form}`, content, {
      "Content-Type": `application/${form}; charset=utf-8`,
      "Cache-Control": CACHE_FIVE_MINUTES,
      // Public, and read by the sandboxed page, whose origin is none.
      "Access-Control-Allow-Origin": "*",
    });
  }
  const pages = [{ path: "/docs", type: "text/html; charset=utf-8", content: PAGE }, ...guides()];
  for (const { path, type, content } of pages) {
    const headers = { "Content-Type": type, "Cache-Control": CACHE_FIVE_MINUTES, "Content-Security-Policy": PAGE_POLICY };
    serve(path, content, headers, type.startsWith("text/html") ? publicUrl.replaceAll("&", "&amp;") : publicUrl);
  }
  serve("/docs/redoc.standalone.js", redoc(), { "Content-Type": "text/javascript; charset=utf-8", "Cache-Control": CACHE_ONE_DAY });
  return (request, response, next) => {
    const { path } = request;
    const respond = served.get(path);
    if (respond === undefined) return next();
    // Metrics have a series for each route.
    contextOf(response).route = path.startsWith("/docs/") ? "/docs/*" : path;
    requireMethod(request, response, "GET, HEAD");
    return respond(request, response, next);
  };
}
