import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Requests that wait on one connection. A packet of 64 KiB can hold 2,500 of the smallest; 500 with a key. */
const WAITING_MAX = 1_000;

interface Queue {
  current: ServerResponse;
  readonly waiting: ServerResponse[];
}

/**
 * Handles the requests of a connection one after another: the next one starts when the answer before it has left. So at
 * most one answer per connection waits for its reader (40 clients that pipelined 800 pages and read none held 425 MB).
 * A connection with one request at a time passes without a listener or an allocation per request.
 */
export class RequestQueues {
  readonly #queues = new WeakMap<Socket, Queue>();
  readonly #serve: RequestListener;

  constructor(serve: RequestListener) {
    this.#serve = serve;
  }

  /** For `request` and the events that Node emits instead of it. */
  readonly handle = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    const queue = this.#queues.get(socket);
    if (queue === undefined) this.#queues.set(socket, { current: response, waiting: [] });
    else if (!queue.current.closed) return this.#enqueue(socket, queue, response);
    else queue.current = response;
    this.#serve(request, response);
  };

  /** The answer to the newest request of the connection, whether it has left or not. */
  newest(socket: Socket): ServerResponse | undefined {
    const queue = this.#queues.get(socket);
    return queue?.waiting.at(-1) ?? queue?.current;
  }

  /** Whether requests of this connection wait for the answers before theirs. Nothing is read from it then. */
  isWaiting(socket: Socket): boolean {
    return (this.#queues.get(socket)?.waiting.length ?? 0) > 0;
  }

  #enqueue(socket: Socket, queue: Queue, response: ServerResponse): void {
    const { current, waiting } = queue;
    if (waiting.length === WAITING_MAX) return refuseMore(socket, waiting.at(-1)!);
    if (waiting.length === 0) current.once("close", () => this.#next(socket, queue));
    waiting.push(response);
    // Node reads on all the same when the answer before drains: what bounds the queue is its length.
    socket.pause();
  }

  #next(socket: Socket, queue: Queue): void {
    const response = queue.waiting.shift();
    // The answer before was the connection's last.
    if (response === undefined || !socket.writable) return;
    queue.current = response;
    if (queue.waiting.length > 0) response.once("close", () => this.#next(socket, queue));
    else socket.resume();
    this.#serve(response.req, response);
  }
}

/**
 * The connection closes after `last`; a client repeats what got no answer (RFC 9112 §9.3.2). What else arrives is not parsed: Node
 * keeps every request it has parsed until the connection closes, some 2 KB each.
 */
function refuseMore(socket: Socket, last: ServerResponse): void {
  if (last.hasHeader("Connection")) return;
  last.setHeader("Connection", "close");
  socket.removeAllListeners("data");
  socket.on("data", () => {});
}
