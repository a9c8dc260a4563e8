import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

const STATUS: Partial<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/**
 * Responds to bytes that never become a request Express could see, and closes the connection. It does what Node does by itself, and adds
 * headers. Into a response that has begun it writes nothing.
 */
export function handleBrokenRequests(server: Server, headers: Readonly<Record<string, string>>): void {
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
