import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { http } from "@brand-records/lifecycle";
import type { EgressProxyAddress } from "../domain/egress-proxy.ts";

/** No tunnel, and the receiver has no part in it: the proxy is away, silent, wants credentials, or forbids the target. */
class ProxyRefusedError extends Error {
  readonly code: string;

  constructor(reason: string, cause?: Error) {
    super(`the egress proxy opened no connection (${reason})`, { cause });
    this.code = `PROXY_${reason}`;
  }
}

/** The proxy works, but has not reached the target. */
export class TargetUnreachableError extends Error {
  readonly code: string;

  constructor(reason: string) {
    super(`the egress proxy did not reach the target (${reason})`);
    this.code = `PROXY_TARGET_${reason}`;
  }
}

/** RFC 9110: these two are about the server behind the proxy. */
const ABOUT_THE_TARGET = new Set([502, 504]);
/** Squid responds with 503 when it cannot connect to the target; this header tells that from an overload of its own. */
const SQUID_HEADER = "x-squid-error";
const SQUID_ABOUT_THE_TARGET = /^ERR_(CONNECT_FAIL|DNS_FAIL)\b/;

/** Opens tunnels through an HTTP proxy, with CONNECT. */
export class EgressProxy {
  readonly #address: EgressProxyAddress;
  readonly #opening = new Set<ClientRequest>();
  #opened = 0;

  constructor(address: EgressProxyAddress) {
    this.#address = address;
  }

  /**
   * Opens a tunnel. A proxy that does not respond in time may wait for the target: if it opened another tunnel meanwhile, it works, and
   * the target is at fault.
   *
   * @param authority host:port of the target
   * @throws ProxyRefusedError, TargetUnreachableError
   */
  async open(authority: string, timeoutMs: number): Promise<Socket> {
    const { host, port, authorization } = this.#address;
    const openedBefore = this.#opened;
    const connecting = http.request({
      host,
      port,
      method: "CONNECT",
      path: authority,
      headers: { host: authority, ...(authorization !== undefined && { "proxy-authorization": authorization }) },
      agent: false,
    });
    this.#opening.add(connecting);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      connecting.destroy();
    }, timeoutMs);
    try {
      const { response, socket } = await connected(connecting);
      requireTunnel(response, socket);
      this.#opened += 1;
      return socket;
    } catch (error) {
      if (error instanceof ProxyRefusedError || error instanceof TargetUnreachableError) throw error;
      if (isLate) throw this.#opened > openedBefore ? new TargetUnreachableError("TIMEOUT") : new ProxyRefusedError("TIMEOUT");
      throw new ProxyRefusedError(reasonOf(error), error as Error);
    } finally {
      clearTimeout(timer);
      this.#opening.delete(connecting);
    }
  }

  /** Ends what is being opened. Open tunnels belong to their callers. */
  stop(): void {
    for (const connecting of this.#opening) connecting.destroy();
  }
}

interface Connected {
  readonly response: IncomingMessage;
  readonly socket: Socket;
}

function connected(connecting: ClientRequest): Promise<Connected> {
  return new Promise((resolve, reject) => {
    connecting.on("error", reject);
    connecting.once("connect", (response, socket: Socket, head) => {
      // Node has removed its own listener: without one, a reset would end the process.
      socket.on("error", () => {});
      if (head.length > 0) socket.unshift(head);
      resolve({ response, socket });
    });
    connecting.end();
  });
}

function requireTunnel({ statusCode = 0, headers }: IncomingMessage, socket: Socket): void {
  if (statusCode >= 200 && statusCode < 300) return;
  socket.destroy();
  const squid = headers[SQUID_HEADER];
  const isAboutTarget = ABOUT_THE_TARGET.has(statusCode) || (typeof squid === "string" && SQUID_ABOUT_THE_TARGET.test(squid));
  throw isAboutTarget ? new TargetUnreachableError(String(statusCode)) : new ProxyRefusedError(String(statusCode));
}

/** Names a reason for each code: messages may repeat the address. */
function reasonOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return "unknown";
  if ("code" in error && typeof error.code === "string") return error.code;
  if ("errors" in error && Array.isArray(error.errors)) return reasonOf(error.errors[0]);
  return "unknown";
}
