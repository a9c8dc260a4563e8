export interface ReadResponse {
  readonly status: number;
  /** Keys are lower-case names; values the last of several. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The connection ended within it. */
  readonly isCut: boolean;
}

/**
 * Reads the responses of a connection, strictly: what does not fit the frames is an error.
 *
 * @param isHead whether the response to the request of this id has no body
 * @throws Error that quotes the bytes
 */
export function readResponses(bytes: Buffer, isHead: (requestId: string | undefined) => boolean): ReadResponse[] {
  const text = bytes.toString("latin1");
  const responses: ReadResponse[] = [];
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf("\r\n\r\n", at);
    if (end < 0) {
      requireStart(text.slice(at));
      responses.push({ status: 0, headers: {}, body: "", isCut: true });
      return responses;
    }
    const [line = "", ...lines] = text.slice(at, end).split("\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1] ?? fail(text.slice(at)));
    const headers = Object.fromEntries(
      lines.map((header) => [header.slice(0, header.indexOf(":")).toLowerCase(), header.slice(header.indexOf(":") + 1).trim()]),
    );
    at = end + 4;
    if (status < 200) continue;
    const hasNoBody = status === 204 || status === 304 || isHead(headers["x-request-id"]);
    const read = hasNoBody
      ? { body: "", next: at }
      : headers["transfer-encoding"] === "chunked"
        ? readChunks(text, at)
        : readLength(text, at, headers);
    responses.push({ status, headers, body: read?.body ?? "", isCut: read === undefined });
    if (read === undefined) return responses;
    at = read.next;
  }
  return responses;
}

interface Read {
  readonly body: string;
  readonly next: number;
}

/** Undefined if the connection ended within it. */
function readLength(text: string, at: number, headers: Readonly<Record<string, string>>): Read | undefined {
  // A client of HTTP/1.0 knows no chunks: the end of the connection is that of the response.
  if (headers["content-length"] === undefined && headers["connection"] === "close") return { body: text.slice(at), next: text.length };
  const length = Number(headers["content-length"] ?? fail(`no length: ${text.slice(at)}`));
  return at + length > text.length ? undefined : { body: text.slice(at, at + length), next: at + length };
}

function readChunks(text: string, start: number): Read | undefined {
  let body = "";
  let at = start;
  for (;;) {
    const end = text.indexOf("\r\n", at);
    if (end < 0) return undefined;
    const size = Number.parseInt(/^[0-9a-f]+$/i.exec(text.slice(at, end))?.[0] ?? fail(text.slice(at)), 16);
    if (end + 4 + size > text.length) return undefined;
    body += text.slice(end + 2, end + 2 + size);
    if (text.slice(end + 2 + size, end + 4 + size) !== "\r\n") fail(text.slice(end));
    at = end + 4 + size;
    if (size === 0) return { body, next: at };
  }
}

const START = "HTTP/1.1 ";

function requireStart(text: string): void {
  const length = Math.min(text.length, START.length);
  if (text.slice(0, length) !== START.slice(0, length)) fail(text);
}

function fail(text: string): never {
  throw new Error(`no response begins here: ${JSON.stringify(text.slice(0, 200))}`);
}
