import { connect, type Socket } from "node:net";

const HEAD_END = "\r\n\r\n";
const ANSWER_MS_MAX = 10_000;

export interface HttpAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/**
 * One kept-alive HTTP/1.1 connection, one request at a time. By hand, because a client that costs as much as the server
 * takes half of a small machine away from what is measured. Understands what the variants send: Content-Length, ASCII
 * bodies.
 */
export class HttpConnection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #brokenBy: Error | undefined;
  #waiting: { resolve(answer: HttpAnswer): void; reject(error: Error): void } | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setTimeout(ANSWER_MS_MAX, () => {
      if (this.#waiting !== undefined) this.#fail(new Error(`no answer within ${ANSWER_MS_MAX} ms`));
    });
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.on("error", (error) => this.#fail(error));
    // Its end, not only its close: what is written in between goes nowhere, and nothing tells.
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
   * @param request as it is to be sent, in ASCII
   * @throws Error if the connection breaks, or is broken already
   */
  ask(request: string): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#brokenBy !== undefined) return reject(this.#brokenBy);
      this.#waiting = { resolve, reject };
      this.#socket.write(request, "latin1");
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const answer = parseAnswer(this.#received);
    if (answer === undefined) return;
    if (answer instanceof Error) return this.#fail(answer);
    this.#received = Buffer.alloc(0);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(answer);
  }

  #fail(error: Error): void {
    this.#brokenBy ??= error;
    this.#socket.destroy();
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.reject(error);
  }
}

/** Answers undefined until the answer is complete. */
function parseAnswer(received: Buffer): HttpAnswer | Error | undefined {
  const headEnd = received.indexOf(HEAD_END);
  if (headEnd === -1) return undefined;
  const head = received.toString("latin1", 0, headEnd);
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(head) ?? [];
  if (length === undefined) return new Error(`an answer without Content-Length:\n${head}`);
  const bodyStart = headEnd + HEAD_END.length;
  if (received.length < bodyStart + Number(length)) return undefined;
  return { status: Number(head.slice(9, 12)), head, body: received.toString("latin1", bodyStart, bodyStart + Number(length)) };
}
