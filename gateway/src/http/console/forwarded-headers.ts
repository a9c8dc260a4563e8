import type { Request } from "express";
import type { RequestContext } from "../request-context.ts";

/**
 * What the console reads of a request. A list of what may pass, not of what may not: a header that frames a message, ends at this hop or
 * says who acts does not pass by being forgotten. Authorization is not among them: the console knows cookies only.
 */
const FORWARDED = [
  "accept",
  "accept-encoding",
  "accept-language",
  "cache-control",
  "content-encoding",
  "content-type",
  "cookie",
  "host",
  "if-modified-since",
  "if-none-match",
  "origin",
  "sec-fetch-dest",
  "sec-fetch-mode",
  "sec-fetch-site",
  "sec-purpose",
  "user-agent",
] as const;

/** End at this hop, or belong to the framing, which the gateway makes itself. */
const OF_THE_HOP: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "trailer",
  "upgrade",
]);

/**
 * Returns the headers of the request to the console. The client's `Connection` header has no say in them.
 *
 * @param proto scheme of PUBLIC_URL
 */
export function headersForConsole(
  { headers }: Request,
  { requestId, traceparent, address }: RequestContext,
  proto: string,
): Record<string, string> {
  const forwarded: Record<string, string> = {};
  for (const name of FORWARDED) {
    const value = headers[name];
    if (typeof value === "string") forwarded[name] = value;
  }
  return {
    ...forwarded,
    "x-request-id": requestId,
    traceparent,
    "x-forwarded-for": address,
    "x-forwarded-host": headers.host ?? "",
    "x-forwarded-proto": proto,
  };
}

/** Returns the headers of the console's response for the client. */
export function headersForClient(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string | string[]> {
  const passed: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) if (value !== undefined && !OF_THE_HOP.has(name)) passed[name] = value;
  return passed;
}
