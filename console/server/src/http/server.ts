import type { IncomingMessage, ServerResponse, Server as PlainServer } from "node:http";
import { createServer, type Server } from "node:https";
import type { TLSSocket } from "node:tls";
import { drain, httpsOnly, listen, SERVER_OPTIONS, type HttpServer } from "@brand-records/edge";
import { http } from "@brand-records/lifecycle";
import { boundHandshakes, peerOf, type Certificates } from "@brand-records/rpc";
import type { Logger } from "@brand-records/telemetry";
import type { Express } from "express";
import type { Socket } from "node:net";

const OPTIONS = { ...SERVER_OPTIONS, headersTimeout: 10_000, requestTimeout: 30_000 };

export interface HttpServerOptions {
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string;
  readonly certificates: Certificates | undefined;
  readonly log: Logger;
}

/** Listens for the gateway or an ingress; with certificates, only for the gateway's. */
export async function startHttpServer(app: Express, { host, port, publicUrl, certificates, log }: HttpServerOptions): Promise<HttpServer> {
  const [server, endHandshakes] = certificates === undefined ? [http.createServer(OPTIONS, app)] : openTlsServer(app, certificates, log);
  // Node would refuse an Expect header other than 100-continue with an empty 417. Such a header is ignored.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  handleBrokenRequests(server, httpsOnly(publicUrl));
  const stop = (): Promise<void> => {
    const drained = drain(server);
    endHandshakes?.();
    return drained;
  };
  return { port: await listen(server, host, port), stop };
}

function openTlsServer(app: Express, certificates: Certificates, log: Logger): [Server, endHandshakes: () => void] {
  // A request that arrived with the handshake is parsed although its connection is destroyed already.
  const refused = new WeakSet<object>();
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    if (!refused.has(request.socket)) app(request, response);
  };
  const server = createServer({ ...OPTIONS, ...certificates.current, requestCert: true }, serve);
  certificates.listen({ onReplaced: () => server.setSecureContext(certificates.current) });
  server.on("secureConnection", (socket: TLSSocket) => {
    const { own } = certificates;
    const peer = peerOf(socket.getPeerCertificate().subjectaltname, own);
    if ("caller" in peer && peer.caller === "gateway") return;
    log.warn({ peer: "caller" in peer ? peer.caller : peer.stranger }, "connection refused: its certificate is not the gateway's");
    refused.add(socket);
    socket.destroy();
  });
  return [server, boundHandshakes(server)];
}

const STATUS: Partial<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/**
 * Responds to bytes that never become a request Express could see, and closes the connection. It does what Node does by itself, and adds
 * headers. Into a response that has begun it writes nothing.
 */
function handleBrokenRequests(server: PlainServer, headers: Readonly<Record<string, string>>): void {
  const open = new WeakMap<Socket, Set<ServerResponse>>();
  server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    const responses = open.get(socket) ?? new Set();
    open.set(socket, responses.add(response));
    response.once("close", () => responses.delete(response));
  });
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  server.on("clientError", ({ code = "" }: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    const hasBegun = [...(open.get(socket) ?? [])].some(({ headersSent }) => headersSent);
    if (code === "ECONNRESET" || !socket.writable || hasBegun) return void socket.destroy();
    const status = STATUS[code] ?? "400 Bad Request";
    socket.end(`HTTP/1.1 ${status}\r\n${lines.join("")}Content-Length: 0\r\nConnection: close\r\n\r\n`, () => socket.destroy());
  });
}
