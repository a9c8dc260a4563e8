import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { UpstreamFault } from "./random-connection.ts";

export interface SeenRequest {
  readonly method: string;
  readonly times: number;
}

const STALL_MS = 50;
/** Long enough for a burst to arrive meanwhile. */
const HOLD_MS = 400;
/** Besides what frames a message. Each of these the console reads. */
const EXPECTED_HEADERS: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "connection",
  "content-encoding",
  "content-length",
  "cookie",
  "host",
  "traceparent",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-request-id",
]);
const MARKER = /c\d+-r\d+-[a-z-]+/;

/**
 * Stands behind the gateway in the console's place. Each request must belong to one client in all of its parts; what the marker names
 * is done to its response.
 */
export class RecordingUpstream {
  readonly #server: Server;
  readonly #seen = new Map<string, SeenRequest>();
  /** What must not happen. */
  readonly problems: string[] = [];
  /** Requests in flight by client address: now, and at most. */
  readonly #inFlight = new Map<string, number>();
  #inFlightMax = 0;

  private constructor() {
    this.#server = createServer({ maxHeaderSize: 64 * 1024, keepAliveTimeout: 60_000 }, (request, response) =>
      this.#serve(request, response),
    );
    this.#server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
      // The parser's errors begin so. Others are those of connections that end.
      if (error.code?.startsWith("HPE_")) this.problems.push(`the gateway sent what is not HTTP: ${error.message}`);
      socket.destroy();
    });
  }

  static async start(): Promise<RecordingUpstream> {
    const upstream = new RecordingUpstream();
    await once(upstream.#server.listen(0, "127.0.0.1"), "listening");
    return upstream;
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  connections(): Promise<number> {
    return new Promise((resolve, reject) =>
      this.#server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
    );
  }

  /** Returns what was seen since the last call, by request id. */
  takeSeen(): Map<string, SeenRequest> {
    const seen = new Map(this.#seen);
    this.#seen.clear();
    return seen;
  }

  /** Returns the most requests of one address that were in flight at the same time. */
  get inFlightMax(): number {
    return this.#inFlightMax;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const { method = "", url = "", headers } = request;
    const id = String(headers["x-request-id"]);
    const fault = (/-r\d+-([a-z-]+)$/.exec(id)?.[1] ?? "none") as UpstreamFault;
    this.#seen.set(id, { method, times: (this.#seen.get(id)?.times ?? 0) + 1 });
    this.#requireOwn(id, url, headers);
    this.#countInFlight(String(headers["x-forwarded-for"]), response);
    if (fault === "early") return void response.end(id);
    let body = "";
    request.setEncoding("latin1");
    request.on("data", (chunk: string) => (body += chunk));
    request.on("error", () => {});
    request.on("end", () => {
      if (body !== "" && fault !== "hidden" && !body.startsWith(`${id}|`))
        this.problems.push(`${id} has the body ${JSON.stringify(body.slice(0, 80))}`);
      if (body.length !== Number(headers["content-length"] ?? 0)) this.problems.push(`${id} has ${body.length} bytes, not its length`);
      if (body !== "" && method !== "POST") this.problems.push(`${id} is a ${method} with a body`);
      respond(fault, id, body.length, request, response);
    });
  }

  /** Path, cookie and request id are of the same request, and the gateway has set what it always sets. */
  #requireOwn(id: string, url: string, headers: IncomingMessage["headers"]): void {
    const parts = [MARKER.exec(url)?.[0], MARKER.exec(headers.cookie ?? "")?.[0]];
    if (parts.some((part) => part !== id)) this.problems.push(`${id} came as ${url} with the cookie ${headers.cookie}`);
    if (headers["x-forwarded-proto"] !== "https") this.problems.push(`${id} has the scheme ${String(headers["x-forwarded-proto"])}`);
    const unexpected = Object.keys(headers).filter((name) => !EXPECTED_HEADERS.has(name));
    if (unexpected.length > 0) this.problems.push(`${id} has the headers ${unexpected.join(", ")}`);
  }

  #countInFlight(address: string, response: ServerResponse): void {
    const count = (this.#inFlight.get(address) ?? 0) + 1;
    this.#inFlight.set(address, count);
    this.#inFlightMax = Math.max(this.#inFlightMax, count);
    response.once("close", () => {
      const left = (this.#inFlight.get(address) ?? 0) - 1;
      if (left === 0) this.#inFlight.delete(address);
      else this.#inFlight.set(address, left);
    });
  }
}

function respond(fault: UpstreamFault, id: string, length: number, { socket }: IncomingMessage, response: ServerResponse): void {
  const text = `${id}|${length}`;
  response.setHeader("x-upstream-marker", id);
  const serve: Readonly<Record<UpstreamFault, () => void>> = {
    none: () => response.end(text),
    hidden: () => response.end(text),
    early: () => response.end(text),
    chunks: () => {
      response.write(text.slice(0, 2));
      response.end(text.slice(2));
    },
    hint: () => {
      response.writeEarlyHints({ link: "</style.css>; rel=preload; as=style" });
      response.end(text);
    },
    "close-after": () => response.setHeader("Connection", "close").end(text),
    reset: () => void socket.resetAndDestroy(),
    end: () => void socket.destroy(),
    stall: () => void setTimeout(() => socket.destroy(), STALL_MS),
    hold: () => void setTimeout(() => response.end(text), HOLD_MS),
    cut: () => {
      response.writeHead(200, { "content-length": text.length + 100 });
      response.write(text, () => socket.destroy());
    },
    "cut-reset": () => {
      response.write(text, () => socket.resetAndDestroy());
    },
    garbage: () => void socket.end(`HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n${text}`),
  };
  serve[fault]();
}
