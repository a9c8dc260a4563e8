import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, STATUS_CODES, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { IssuedCertificate } from "@brand-records/testkit";

/** A request as it came. */
export interface Received {
  /** `performance.now()`. */
  readonly at: number;
  /** Such as `GET /api/v1/payouts`. */
  readonly line: string;
  readonly query: Readonly<Record<string, string>>;
  readonly key: string;
  readonly userAgent: string;
  readonly body: string;
}

export interface Reply {
  /** Default: 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: object | string;
  /** How the response ends, after that many bytes of its head and body. What ends has no length: its body alone shows that it is not whole. */
  readonly cut?: { readonly after: number; readonly by: "end" | "reset" | "stall" };
  /** The server refuses connections afterwards, for that many milliseconds. */
  readonly thenDownMs?: number;
}

/** What the server says to each request: in this order, the last again and again; or as the function decides. */
export type Script = readonly Reply[] | ((request: Received, number: number) => Reply);

/** A server that follows a script, and records what it gets. It serves HTTPS if it has a certificate. */
export class ScriptedServer {
  readonly received: Received[] = [];
  readonly #script: Script;
  readonly #server: Server;
  readonly #scheme: "http" | "https";
  #port = 0;
  #restart: NodeJS.Timeout | undefined;

  private constructor(script: Script, certificate: IssuedCertificate | undefined) {
    this.#script = script;
    const listener: RequestListener = (incoming, outgoing) => void this.#serve(incoming, outgoing).catch(() => outgoing.destroy());
    this.#scheme = certificate === undefined ? "http" : "https";
    this.#server =
      certificate === undefined
        ? createServer(listener)
        : createSecureServer({ cert: readFileSync(certificate.cert), key: readFileSync(certificate.key) }, listener);
  }

  static async start(script: Script, certificate?: IssuedCertificate): Promise<ScriptedServer> {
    const server = new ScriptedServer(script, certificate);
    await server.#listen();
    return server;
  }

  url(scheme = this.#scheme): string {
    return `${scheme}://127.0.0.1:${this.#port}`;
  }

  async stop(): Promise<void> {
    clearTimeout(this.#restart);
    if (!this.#server.listening) return this.#server.closeAllConnections();
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #listen(): Promise<void> {
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const at = performance.now();
    const { pathname, searchParams } = new URL(incoming.url ?? "", this.url());
    const { authorization = "", "user-agent": userAgent = "" } = incoming.headers;
    const request = {
      at,
      line: `${incoming.method} ${pathname}`,
      query: Object.fromEntries(searchParams),
      key: authorization.replace("Bearer ", ""),
      userAgent,
      body: await text(incoming),
    };
    const number = this.received.push(request);
    this.#respond(
      outgoing,
      typeof this.#script === "function" ? this.#script(request, number) : (this.#script[number - 1] ?? this.#script.at(-1) ?? {}),
    );
  }

  #respond(outgoing: ServerResponse, reply: Reply): void {
    const { status = 200, headers = {}, cut, thenDownMs } = reply;
    if (thenDownMs !== undefined) {
      this.#server.close();
      this.#restart = setTimeout(() => void this.#listen(), thenDownMs);
      outgoing.setHeader("Connection", "close");
    }
    if (cut === undefined) {
      const body = bodyOf(reply);
      outgoing.writeHead(status, { "Content-Length": body.length, ...headers }).end(body);
      return;
    }
    const { socket } = outgoing;
    socket?.write(bytesOf(reply).subarray(0, cut.after), () => {
      if (cut.by === "end") socket.destroySoon();
      if (cut.by === "reset") socket.resetAndDestroy();
    });
  }
}

/** Returns how many bytes a reply has that is cut nowhere. */
export const lengthOf = (reply: Reply): number => bytesOf(reply).length;

function bytesOf(reply: Reply): Buffer {
  const { status = 200, headers = {}, cut } = reply;
  const body = bodyOf(reply);
  const framing = cut?.by === "end" ? { Connection: "close" } : { "Content-Length": String(body.length) };
  const lines = Object.entries({ ...headers, ...framing }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n`), body]);
}

const bodyOf = ({ body = "" }: Reply): Buffer => Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
