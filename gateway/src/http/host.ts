import { AppError } from "@brand-records/errors";
import type { IncomingMessage } from "node:http";

/** RFC 3986 `host [":" port]`, without the comma that the grammar allows: two headers joined into one hold a comma. */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|(?:[A-Za-z0-9._~!$&'()*+;=-]|%[0-9A-Fa-f]{2})+)(?::[0-9]{0,5})?$/;

/**
 * Requires one valid Host header; HTTP/1.0 may omit it. If two servers read different hosts from one request, an
 * attacker chooses between them.
 *
 * @throws AppError `invalid_request`
 * @see https://www.rfc-editor.org/rfc/rfc9112#section-3.2
 */
export function requireHost({ headers: { host }, httpVersion, rawHeaders }: IncomingMessage): void {
  if (host === undefined) {
    if (httpVersion !== "1.0") throw new AppError("invalid_request", "Send a Host header: HTTP/1.1 requires one.");
  } else if (hasSeveralHosts(rawHeaders)) {
    throw new AppError("invalid_request", "The Host header is given more than once. Send it once.");
  } else if (!HOST.test(host)) {
    throw new AppError("invalid_request", "The Host header is not valid. Send a host name or address, with or without a port.");
  }
}

/** Reads the raw headers: of several Host headers Node keeps only the first. */
function hasSeveralHosts(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count > 1;
}
