import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";

/** Limit of the statement that shows that a connection works. */
const PROBE_MS = 2_000;
const FILL_MS_MAX = 10_000;
const FILL_RETRY_MS = 200;
const REFILL_PAUSE_MS_MIN = 100;
const REFILL_PAUSE_MS_MAX = 2_000;

/** Opens a pool's connections before they are asked for: when a process starts, and again after a server has ended them. */
export class PoolFiller {
  readonly #pool: pg.Pool;
  readonly #max: number;
  readonly #stopping = new AbortController();
  /** Whether it has been filled: a pool that never was connects on demand. */
  #isKept = false;
  #refilling: Promise<void> | undefined;

  constructor(pool: pg.Pool, max: number) {
    this.#pool = pool;
    this.#max = max;
  }

  /** @returns how many connections are open: fewer if the database accepts no more, or not within ten seconds */
  async fill(): Promise<number> {
    this.#isKept = true;
    const deadline = performance.now() + FILL_MS_MAX;
    for (;;) {
      const { count, isSlow } = await this.#openAll();
      // A server that is full or away stays so: the process is not ready while it is away. One that is slow needs another moment.
      if (count === this.#max || !isSlow || performance.now() > deadline) return count;
      await pause(FILL_RETRY_MS);
    }
  }

  /** Replaces lost connections of a pool that was filled, as soon as the server accepts them. */
  refill(): void {
    if (this.#isKept) this.#refilling ??= this.#refillOnceBack().finally(() => void (this.#refilling = undefined));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#refilling;
    await this.#pool.end();
  }

  async #refillOnceBack(): Promise<void> {
    const { signal } = this.#stopping;
    for (let waitMs = REFILL_PAUSE_MS_MIN; !signal.aborted; waitMs = Math.min(2 * waitMs, REFILL_PAUSE_MS_MAX)) {
      await pause(waitMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      // Some are enough: the server is back, and may now have room for fewer.
      if ((await this.#openAll()).count > 0) return;
    }
  }

  /** All at the same time: a connection that is released would be the next one's. */
  async #openAll(): Promise<{ readonly count: number; readonly isSlow: boolean }> {
    const opening = await Promise.allSettled(Array.from({ length: this.#max }, () => this.#open()));
    const opened = opening.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    for (const { release } of opened) release();
    return {
      count: opened.filter(({ works }) => works).length,
      isSlow: opening.some((result) => result.status === "rejected" && /timeout/i.test(String(result.reason))),
    };
  }

  /** Opens one connection and uses it. */
  async #open(): Promise<{ readonly works: boolean; release(): void }> {
    const client = await this.#pool.connect();
    let failure: Error | undefined;
    const statement: pg.QueryConfig & { query_timeout: number } = { text: "select 1", query_timeout: PROBE_MS };
    await client.query(statement).catch((error: Error) => (failure = error));
    return { works: failure === undefined, release: () => client.release(failure) };
  }
}
