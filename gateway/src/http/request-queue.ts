import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Requests that may wait on one connection. A packet of 64 KiB can hold 2,500 of the smallest, or 500 with a key. */
const WAITING_MAX = 1_000;

interface Queue {
  current: ServerResponse;
  readonly waiting: ServerResponse[];
}

/**
 * Handles the requests of a connection one after another: each starts when the response before it has been sent. So at
 * most one response per connection waits for its reader (40 clients that pipelined 800 pages and read none held 425 MB).
 * A connection with one request at a time passes without a listener or an allocation per request.
 */
export class RequestQueues {
  readonly #queues = new WeakMap<Socket, Queue>();
  readonly #serve: RequestListener;

  constructor(serve: RequestListener) {
    this.#serve = serve;
  }

  /** Listens to `request` and to the events that Node emits in its place. */
  readonly handle = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    const queue = this.#queues.get(socket);
    if (queue === undefined) this.#queues.set(socket, { current: response, waiting: [] });
    else if (!queue.current.closed) return this.#enqueue(socket, queue, response);
    else queue.current = response;
    this.#serve(request, response);
  };

  /** The response to the newest request of the connection, sent or not. */
  newest(socket: Socket): ServerResponse | undefined {
    const queue = this.#queues.get(socket);
    return queue?.waiting.at(-1) ?? queue?.current;
  }

  /** Whether requests of this connection wait for earlier responses. Nothing is read from the connection then. */
  isWaiting(socket: Socket): boolean {
    return (this.#queues.get(socket)?.waiting.length ?? 0) > 0;
  }

  #enqueue(socket: Socket, queue: Queue, response: ServerResponse): void {
    const { current, waiting } = queue;
    if (waiting.length === WAITING_MAX) return refuseMore(socket, waiting.at(-1)!);
    if (waiting.length === 0) current.once("close", () => this.#next(socket, queue));
    waiting.push(response);
    // Node still reads on when the earlier response drains, so the queue's length must bound it.
    socket.pause();
  }

  #next(socket: Socket, queue: Queue): void {
    const response = queue.waiting.shift();
    // The previous response was the connection's last.
    if (response === undefined || !socket.writable) return;
    queue.current = response;
    if (queue.waiting.length > 0) response.once("close", () => this.#next(socket, queue));
    else socket.resume();
    this.#serve(response.req, response);
  }
}

/**
 * Closes the connection after `last`; clients repeat requests without a response (RFC 9112 §9.3.2). Bytes that still arrive are not
 * parsed: Node keeps every parsed request until the connection closes, about 2 KB each.
 */
function refuseMore(socket: Socket, last: ServerResponse): void {
  if (last.hasHeader("Connection")) return;
  last.setHeader("Connection", "close");
  socket.removeAllListeners("data");
  socket.on("data", () => {});
}
