import type { RequestListener } from "node:http";

/**
 * Serves requests whose target has no path, such as `GET foo://x` and `GET http://[/`, at a path at which nothing exists. Express answers
 * what it finds no path in by itself: in HTML, without a log line, and only when the whole body has arrived.
 */
export function servingEveryTarget(serve: RequestListener): RequestListener {
  return (request, response) => {
    const target = request.url ?? "";
    if (!target.startsWith("/") && !hasPath(target)) request.url = `/${encodeURIComponent(target.toWellFormed())}`;
    serve(request, response);
  };
}

/** Whether it is an absolute URL with a path, as proxies send, or the `*` of OPTIONS. */
const hasPath = (target: string): boolean => target === "*" || (/^https?:\/\//i.test(target) && URL.canParse(target));
