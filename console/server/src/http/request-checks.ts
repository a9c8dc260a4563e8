import { AppError } from "@brand-records/errors";
import type { RequestHandler, Request } from "express";

/** Refuses every other method. HEAD may be left out: it must not change anything, and a server answers it as it does GET. */
export function only(...methods: readonly ("GET" | "HEAD")[]): RequestHandler {
  return (request, response, next) => {
    if ((methods as readonly string[]).includes(request.method)) return next();
    response.setHeader("Allow", methods.join(", "));
    throw new AppError("method_not_allowed", `This path supports ${methods.join(" and ")} only.`);
  };
}

/**
 * Refuses what no person opens in a tab: images, frames, scripts' requests and prefetches, which any web page can have a browser send.
 * Browsers that do not send these headers pass.
 */
export const onlyNavigations: RequestHandler = ({ headers }, _response, next) => {
  const { "sec-fetch-mode": mode = "navigate", "sec-fetch-dest": destination = "document", "sec-purpose": purpose } = headers;
  if (mode === "navigate" && destination === "document" && purpose === undefined) return next();
  throw new AppError("origin_not_allowed", "Open this address in a tab of its own: no page may request it.");
};

/** Redirects a page asked for under another host than PUBLIC_URL's: 127.0.0.1 and localhost have different cookies. */
export function onPublicHost(publicUrl: string): RequestHandler {
  const { host: publicHost } = new URL(publicUrl);
  return (request, response, next) => {
    if (request.headers.host === publicHost) return next();
    const { pathname, search } = new URL(request.originalUrl, publicUrl);
    response.redirect(307, `${publicUrl}${pathname}${search}`);
  };
}

/**
 * Requires that a page of this origin sent the request, as JSON. A page on another port of this host is same-site, and its requests
 * carry the cookie: only `same-origin` passes. Browsers that send no Sec-Fetch-Site send Origin with every POST.
 *
 * @throws AppError `origin_not_allowed` or `unsupported_media_type`
 */
export function requireSameOrigin({ headers }: Request, publicOrigin: string): void {
  const site = headers["sec-fetch-site"];
  const isSameOrigin = site === undefined ? headers.origin === publicOrigin : site === "same-origin";
  if (!isSameOrigin) throw new AppError("origin_not_allowed", "Only the console's own pages may call this.");
  if (!/^application\/json(;|$)/i.test(headers["content-type"] ?? "")) {
    throw new AppError("unsupported_media_type", "Send JSON, with Content-Type: application/json.");
  }
}
