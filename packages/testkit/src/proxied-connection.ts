import type { Socket } from "node:net";

/** Set by a proxy for all its connections. */
export interface ProxyFaults {
  blackholed: boolean;
  delayMs: number;
}

/** Two sockets that forward to each other, subject to the proxy's faults. */
export class ProxiedConnection {
  readonly #sockets: readonly [Socket, Socket];
  readonly #directions: readonly [Direction, Direction];

  constructor(client: Socket, upstream: Socket, faults: ProxyFaults) {
    this.#sockets = [client, upstream];
    this.#directions = [new Direction(client, upstream, faults), new Direction(upstream, client, faults)];
    // A reset on one side, or a refused connection upstream, resets the other side.
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
  readonly #faults: ProxyFaults;
  readonly #queue: (Buffer | typeof END)[] = [];
  /** How many items at the head of the queue have been delayed long enough. */
  #due = 0;

  constructor(from: Socket, to: Socket, faults: ProxyFaults) {
    this.#from = from;
    this.#to = to;
    this.#faults = faults;
    from.on("data", (chunk: Buffer) => this.#enqueue(chunk));
    from.on("end", () => this.#enqueue(END));
    to.on("drain", () => this.resume());
    if (faults.blackholed) this.stall();
  }

  stall(): void {
    this.#from.pause();
  }

  resume(): void {
    if (this.#faults.blackholed) return;
    this.#from.resume();
    this.#forwardDue();
  }

  #enqueue(item: Buffer | typeof END): void {
    this.#queue.push(item);
    if (this.#faults.delayMs === 0 && this.#queue.length === 1) this.#releaseOne();
    else setTimeout(() => this.#releaseOne(), this.#faults.delayMs);
  }

  /** Timers may fire in any order; the oldest item always goes first, so bytes stay in order. */
  #releaseOne(): void {
    this.#due += 1;
    if (!this.#faults.blackholed) this.#forwardDue();
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
