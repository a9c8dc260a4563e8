import pg from "pg";

/** How long connections of an earlier generation stay usable at least: a server that stays read-only must not end them all the time. */
const RENEW_EVERY_MS = 1_000;

/** Called with the seconds that a caller waited for a connection, whether it got one or not. */
export type OnWait = (seconds: number) => void;

type Connected = (error: Error | undefined, client: pg.PoolClient | undefined, release: (error?: unknown) => void) => void;

/** A pool that measures the wait for a connection, and that can replace all its connections. */
export class MeasuredPool extends pg.Pool {
  readonly #onWait: OnWait | undefined;
  /** When each connection was opened, and since when connections count as current. */
  readonly #openedAt = new WeakMap<pg.ClientBase, number>();
  #currentFrom = 0;
  readonly #established = new Set<pg.ClientBase>();

  constructor(config: pg.PoolConfig, onWait: OnWait | undefined) {
    super(config);
    this.#onWait = onWait;
    this.on("connect", (client) => {
      // Without a listener, the loss of a connection would end the process: the pool's own is off while the connection is used.
      client.on("error", () => {});
      this.#openedAt.set(client, performance.now());
      this.#established.add(client);
    });
    this.on("remove", (client) => this.#established.delete(client));
  }

  /** Connections that callers use: `totalCount` has those, too, that are only being opened. */
  get usedCount(): number {
    return this.#established.size - this.idleCount;
  }

  /** Connections opened before now are not used again. Does nothing within a second of the last call. */
  renew(): void {
    const now = performance.now();
    if (now - this.#currentFrom >= RENEW_EVERY_MS) this.#currentFrom = now;
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | void {
    if (callback !== undefined) return this.#acquire(performance.now(), callback);
    return new Promise((resolve, reject) => {
      this.#acquire(performance.now(), (error, client) => (client === undefined ? reject(error!) : resolve(client)));
    });
  }

  #acquire(startedAt: number, callback: Connected): void {
    super.connect((error, client, release) => {
      if (client !== undefined && this.#openedAt.get(client)! < this.#currentFrom) {
        release(true);
        return this.#acquire(startedAt, callback);
      }
      this.#onWait?.((performance.now() - startedAt) / 1_000);
      callback(error, client, release);
    });
  }
}
