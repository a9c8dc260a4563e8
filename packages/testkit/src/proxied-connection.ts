import type { Socket } from "node:net";

/** Shared by all lines of a proxy, and changed by it. */
export interface ProxyFaults {
  blackholed: boolean;
  delayMs: number;
}

/** Two sockets, each forwarding to the other what the state lets through. */
export class ProxiedConnection {
  readonly #sockets: readonly [Socket, Socket];
  readonly #directions: readonly [Direction, Direction];

  constructor(client: Socket, upstream: Socket, state: ProxyFaults) {
    this.#sockets = [client, upstream];
    this.#directions = [new Direction(client, upstream, state), new Direction(upstream, client, state)];
    // A reset on one side, or nobody listening upstream, is a reset on the other.
    for (const socket of this.#sockets) socket.on("error", () => this.reset());
  }

  onClose(callback: () => void): void {
    for (const socket of this.#sockets) socket.once("close", () => this.#sockets.every((each) => each.closed) && callback());
  }

  stall(): void {
    for (const direction of this.#directions) direction.stall();
  }

  resume(): void {
    for (const direction of this.#directions) direction.resume();
  }

  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }
}

const END = null;

class Direction {
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #state: ProxyFaults;
  readonly #queue: (Buffer | typeof END)[] = [];
  /** Of the queue's first, so many have been delayed long enough. */
  #due = 0;

  constructor(from: Socket, to: Socket, state: ProxyFaults) {
    this.#from = from;
    this.#to = to;
    this.#state = state;
    from.on("data", (chunk: Buffer) => this.#take(chunk));
    from.on("end", () => this.#take(END));
    to.on("drain", () => this.resume());
    if (state.blackholed) this.stall();
  }

  stall(): void {
    this.#from.pause();
  }

  resume(): void {
    if (this.#state.blackholed) return;
    this.#from.resume();
    this.#forwardDue();
  }

  #take(item: Buffer | typeof END): void {
    this.#queue.push(item);
    if (this.#state.delayMs === 0 && this.#queue.length === 1) this.#itemIsDue();
    else setTimeout(() => this.#itemIsDue(), this.#state.delayMs);
  }

  /** Whichever timer fires first, the oldest goes first: the order of bytes is never lost. */
  #itemIsDue(): void {
    this.#due += 1;
    if (!this.#state.blackholed) this.#forwardDue();
  }

  #forwardDue(): void {
    for (; this.#due > 0; this.#due -= 1) {
      const item = this.#queue.shift();
      if (item === undefined || this.#to.destroyed) continue;
      if (item === END) this.#to.end();
      else if (!this.#to.write(item)) this.#from.pause();
    }
  }
}
