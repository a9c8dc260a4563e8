import { connect, type Socket } from "node:net";

const HEAD_END = "\r\n\r\n";
const RESPONSE_MS_MAX = 10_000;

interface HttpResponse {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/**
 * A kept-alive HTTP/1.1 connection for one request at a time. Written without a library, because a client that costs as much
 * as the server takes half of a small machine from what is measured. Parses only what the variants send: Content-Length and
 * ASCII bodies.
 */
export class HttpConnection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #brokenBy: Error | undefined;
  #pending: { resolve(response: HttpResponse): void; reject(error: Error): void } | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setTimeout(RESPONSE_MS_MAX, () => {
      if (this.#pending !== undefined) this.#fail(new Error(`no response within ${RESPONSE_MS_MAX} ms`));
    });
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.on("error", (error) => this.#fail(error));
    // Already at its end: what is written between end and close is lost without an error.
    for (const event of ["end", "close"]) socket.on(event, () => this.#fail(new Error("the server closed the connection")));
  }

  static open(port: number): Promise<HttpConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: "127.0.0.1", port });
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.off("error", reject);
        resolve(new HttpConnection(socket));
      });
    });
  }

  get isOpen(): boolean {
    return this.#brokenBy === undefined;
  }

  /**
   * Sends a request, in ASCII, and returns the response.
   *
   * @throws Error if the connection breaks, or has broken before
   */
  send(request: string): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      if (this.#brokenBy !== undefined) return reject(this.#brokenBy);
      this.#pending = { resolve, reject };
      this.#socket.write(request, "latin1");
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const response = parseResponse(this.#received);
    if (response === undefined) return;
    if (response instanceof Error) return this.#fail(response);
    this.#received = Buffer.alloc(0);
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.resolve(response);
  }

  #fail(error: Error): void {
    this.#brokenBy ??= error;
    this.#socket.destroy();
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.reject(error);
  }
}

/** Returns undefined until the response is complete. */
function parseResponse(received: Buffer): HttpResponse | Error | undefined {
  const headEnd = received.indexOf(HEAD_END);
  if (headEnd === -1) return undefined;
  const head = received.toString("latin1", 0, headEnd);
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(head) ?? [];
  if (length === undefined) return new Error(`a response without Content-Length:\n${head}`);
  const bodyStart = headEnd + HEAD_END.length;
  if (received.length < bodyStart + Number(length)) return undefined;
  return { status: Number(head.slice(9, 12)), head, body: received.toString("latin1", bodyStart, bodyStart + Number(length)) };
}
