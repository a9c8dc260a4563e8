import { setTimeout as pause } from "node:timers/promises";
import { Backoff } from "@brand-records/lifecycle";
import type { Logger } from "@brand-records/telemetry";
import type { TopicPartitionOffset } from "kafkajs";

export const RETRY_MS_MIN = 100;
export const RETRY_MS_MAX = 2_000;
/** Offsets gather for this long. A process that is killed meanwhile leaves what is stored already to be read again, which stores nothing. */
const GATHER_MS = 100;

/** Messages of one partition that are processed. */
interface Processed {
  readonly next: TopicPartitionOffset;
  /** Whether the partition is still this member's, and was all the time. */
  isOurs(): boolean;
}

/**
 * Commits offsets beside the reading: a commit takes a third as long as the storing of a small batch, and kafkajs fetches nothing meanwhile if
 * a batch waits for it. See docs/decisions/0031-background-rate.md.
 */
export class OffsetCommits {
  readonly #commit: (offsets: TopicPartitionOffset[]) => Promise<void>;
  readonly #log: Logger;
  readonly #stopping = new AbortController();
  /** The last processed portion of each partition. */
  readonly #waiting = new Map<number, Processed>();
  #running: Promise<void> | undefined;
  #failure: { readonly error: unknown; readonly of: readonly Processed[] } | undefined;

  constructor(commit: (offsets: TopicPartitionOffset[]) => Promise<void>, log: Logger) {
    this.#commit = commit;
    this.#log = log;
  }

  add(processed: readonly Processed[]): void {
    for (const each of processed) this.#waiting.set(each.next.partition, each);
    if (processed.length > 0) this.#running ??= this.#run();
  }

  /** Throws what the last commit failed with, once. After another join of the group it says nothing, and would crash kafkajs' consumer. */
  throwFailure(): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure?.of.some(({ isOurs }) => isOurs()) === true) throw failure.error;
  }

  /** The brokers have refused to read there: a commit would lead back to it. */
  forget(partition: number): void {
    this.#waiting.delete(partition);
  }

  /** Commits at once what waits, in one try. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const backoff = new Backoff(RETRY_MS_MIN, RETRY_MS_MAX);
    while (this.#waiting.size > 0) {
      await this.#pause(GATHER_MS);
      // A partition that has moved is where its new member says.
      const ours = [...this.#waiting.values()].filter(({ isOurs }) => isOurs());
      this.#waiting.clear();
      try {
        if (ours.length > 0) await this.#commit(ours.map(({ next }) => next));
        this.#failure = undefined;
        backoff.reset();
      } catch (error) {
        this.#failure = { error, of: ours };
        this.#log.warn({ err: error, partitions: ours.map(({ next }) => next.partition) }, "offsets could not be committed");
        if (this.#stopping.signal.aborted) break;
        for (const each of ours) if (!this.#waiting.has(each.next.partition)) this.#waiting.set(each.next.partition, each);
        await this.#pause(backoff.next());
      }
    }
    this.#running = undefined;
  }

  async #pause(milliseconds: number): Promise<void> {
    await pause(milliseconds, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }
}
