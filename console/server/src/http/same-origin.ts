import { AppError } from "@brand-records/errors";
import type { Request } from "express";

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
