import { untilClosed } from "../raw-http.ts";

export interface Sent {
  readonly method?: string;
  readonly path: string;
  /** Beside `Host` and `Connection: close`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent with its length; an object as JSON. */
  readonly body?: string | object;
  /** Bytes in place of everything above, `HOST` in them replaced. They must make the server close the connection. */
  readonly raw?: string;
}

/** Sends a request on a connection of its own. Returns everything that came back, unchanged. */
export const exchange = (baseUrl: string, sent: Sent): Promise<string> => {
  const { host } = new URL(baseUrl);
  return untilClosed(baseUrl, sent.raw?.replaceAll("HOST", host) ?? format(host, sent));
};

function format(host: string, { method = "GET", path, headers = {}, body }: Sent): string {
  const text = typeof body === "object" ? JSON.stringify(body) : body;
  const all = {
    Host: host,
    Connection: "close",
    ...headers,
    ...(typeof body === "object" && { "Content-Type": "application/json" }),
    ...(text !== undefined && { "Content-Length": String(Buffer.byteLength(text)) }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${text ?? ""}`;
}

/** Returns the JSON of a response. */
export const jsonOf = (response: string): unknown => JSON.parse(response.slice(response.indexOf("\r\n\r\n") + 4));

/** Returns the cookie that a response sets, as a request sends it back. */
export const cookieOf = (response: string): string => /^set-cookie: ([^;]+)/im.exec(response)?.[1] ?? "";
