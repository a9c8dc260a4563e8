import type { RequestListener } from "node:http";

/**
 * Serves requests whose target has no path, such as `GET foo://x` and `GET http://[/`, at a path at which nothing exists. Express answers
 * what it finds no path in by itself: in HTML, without a log line, and only when the whole body has arrived.
 */
export function servingEveryTarget(serve: RequestListener): RequestListener {
  return (request, response) => {
    const target = request.url ?? "";
    if (!hasPath(target)) request.url = `/${encodeURIComponent(target.toWellFormed())}`;
    serve(request, response);
  };
}

/** Whether it is a path, an absolute URL with one, as proxies send, or the `*` of OPTIONS. With a fragment, two slashes begin a host. */
const hasPath = (target: string): boolean =>
  target === "*" || (target.startsWith("/") ? !/^\/\/.*[#\s]/.test(target) : /^https?:\/\//i.test(target) && URL.canParse(target));
