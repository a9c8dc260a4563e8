import type { RequestHandler } from "express";

/** Redirects a page asked for under another host than PUBLIC_URL's: 127.0.0.1 and localhost have different cookies. */
export function onPublicHost(publicUrl: string): RequestHandler {
  const { host: publicHost } = new URL(publicUrl);
  return (request, response, next) => {
    if (request.headers.host === publicHost) return next();
    const { pathname, search } = new URL(request.originalUrl, publicUrl);
    response.redirect(307, `${publicUrl}${pathname}${search}`);
  };
}
