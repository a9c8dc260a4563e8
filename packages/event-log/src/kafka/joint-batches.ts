import { setTimeout as pause } from "node:timers/promises";
import { Backoff } from "@brand-records/lifecycle";
import type { Logger } from "@brand-records/telemetry";
import type { TopicPartitionOffset } from "kafkajs";
import { UnprocessedMessages, type Intake, type ReceivedMessage } from "../event-log.ts";
import { OffsetCommits, RETRY_MS_MAX, RETRY_MS_MIN } from "./offset-commits.ts";

/** Messages of one partition that are processed at once. */
export const PORTION_MAX = 500;
/** Messages up to which partitions are processed together: enough to make a transaction's own cost small. More would be sent at once. */
const JOINT_MAX = 100;
/** Batches processed at the same time: while one waits for the database, another one is prepared. */
const CONCURRENT_MAX = 2;
export const HEARTBEAT_MS = 2_000;

/** Messages of one partition, in order; at most PORTION_MAX. */
export interface Portion {
  readonly messages: readonly ReceivedMessage[];
  readonly next: TopicPartitionOffset;
  /** Whether the partition is still this member's, and was all the time. */
  isOurs(): boolean;
  heartbeat(): Promise<void>;
  /** Makes the next fetch begin after these messages. */
  resolve(): void;
  /** Leaves the partition out of fetches until the returned function is called. */
  pause(): () => void;
}

interface WaitingPortion extends Portion {
  readonly done: PromiseWithResolvers<boolean>;
}

/** A portion with the messages that could not be processed, not settled yet. */
interface FailedPortion {
  readonly portion: WaitingPortion;
  readonly err: unknown;
}

interface JointBatchesOptions {
  readonly intake: Intake;
  readonly commit: (offsets: TopicPartitionOffset[]) => Promise<void>;
  readonly onActivity: () => void;
  readonly log: Logger;
}

/**
 * Processes together what several partitions have: at a steady rate each has a few messages only, and a transaction and a commit of
 * offsets for each cost as much as one for all. See docs/decisions/0027-joint-batches.md.
 */
export class JointBatches {
  readonly #options: JointBatchesOptions;
  readonly #commits: OffsetCommits;
  #waiting: WaitingPortion[] = [];
  #running = 0;
  #isStarting = false;
  readonly #stopping = new AbortController();
  /** Batches that are being processed, and portions that are being repeated. */
  readonly #active = new Set<Promise<void>>();
  /** By partition: the portion it is paused for. After another join of the group an earlier one may still be on its way. */
  readonly #pausedFor = new Map<number, Portion>();

  constructor(options: JointBatchesOptions) {
    this.#options = options;
    this.#commits = new OffsetCommits(options.commit, options.log);
  }

  /**
   * Resolves with true once the messages are processed; their offset is committed a moment later. Resolves with false if they are not: the
   * partition has moved to another member, on stop, or after a failure; then the partition is paused until a later attempt succeeds.
   * Rejects if earlier offsets could not be committed: kafkajs has to hear of it.
   */
  async process(portion: Portion): Promise<boolean> {
    if (this.#stopping.signal.aborted) {
      // kafkajs would fetch it again at once, and again, until the consumer has stopped.
      portion.pause();
      return false;
    }
    this.#commits.throwFailure();
    const done = Promise.withResolvers<boolean>();
    this.#waiting.push({ ...portion, done });
    this.#startSoon();
    return done.promise;
  }

  /** Commits no offset of a partition that was processed before now. */
  forget(partition: number): void {
    this.#commits.forget(partition);
  }

  /** Begins and repeats nothing any more. Resolves when what had begun has ended, and the offsets of all that is processed are committed. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#active);
    await this.#commits.stop();
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#active.delete(tracked));
    this.#active.add(tracked);
  }

  /** kafkajs hands over what a fetch brought partition by partition, in one turn. */
  #startSoon(): void {
    if (this.#isStarting) return;
    this.#isStarting = true;
    setImmediate(() => this.#start());
  }

  #start(): void {
    this.#isStarting = false;
    while (this.#waiting.length > 0 && this.#mayStart()) {
      this.#running += 1;
      this.#track(
        this.#run(this.#take()).finally(() => {
          this.#running -= 1;
          this.#startSoon();
        }),
      );
    }
  }

  /** Beside others only full batches: small ones would wait for the same rows, and cost more than one that waits a moment. */
  #mayStart(): boolean {
    if (this.#running === 0) return true;
    const isFull = this.#waiting.reduce((sum, { messages }) => sum + messages.length, 0) >= JOINT_MAX;
    return isFull && this.#running < CONCURRENT_MAX;
  }

  /** Takes what waits, as far as it is no more than JOINT_MAX messages, and one at least. */
  #take(): WaitingPortion[] {
    let taken = 0;
    let messages = 0;
    for (const portion of this.#waiting) {
      messages += portion.messages.length;
      if (messages > JOINT_MAX && taken > 0) break;
      taken += 1;
    }
    return this.#waiting.splice(0, taken);
  }

  async #run(portions: readonly WaitingPortion[]): Promise<void> {
    for (const failed of await this.#attempt(portions)) this.#track(this.#repeat(failed));
  }

  /**
   * Repeats a portion that could not be processed until it is: alone, beside whatever else there is, and with its partition paused,
   * because kafkajs fetches nothing from a broker while a part of its last fetch is being processed. So it holds up its own partition.
   */
  async #repeat(first: FailedPortion): Promise<void> {
    const { portion } = first;
    if (!portion.isOurs()) return portion.done.resolve(false);
    const { log } = this.#options;
    const resume = portion.pause();
    this.#pausedFor.set(portion.next.partition, portion);
    portion.done.resolve(false);
    const backoff = new Backoff(RETRY_MS_MIN, RETRY_MS_MAX);
    const done = Promise.withResolvers<boolean>();
    for (let failed: FailedPortion | undefined = first; failed !== undefined;) {
      const retryMs = backoff.next();
      log.warn({ err: failed.err, ...fieldsOf(failed.portion), retry_in_ms: retryMs }, "messages could not be processed");
      await pause(retryMs, undefined, { signal: this.#stopping.signal }).catch(() => {});
      [failed] = await this.#attempt([{ ...failed.portion, done }]);
    }
    await done.promise;
    if (this.#pausedFor.get(portion.next.partition) !== portion) return;
    this.#pausedFor.delete(portion.next.partition);
    resume();
  }

  /** Processes the portions that are still ours. Settles all but those that it returns. */
  async #attempt(portions: readonly WaitingPortion[]): Promise<FailedPortion[]> {
    const { intake, onActivity } = this.#options;
    const ours = this.#stopping.signal.aborted ? [] : portions.filter((portion) => portion.isOurs());
    const [first] = ours;
    let failed: FailedPortion[] = [];
    if (first !== undefined) {
      onActivity();
      try {
        await withHeartbeats(() => first.heartbeat(), intake(ours.flatMap(({ messages }) => messages)));
      } catch (err) {
        failed = failedAmong(ours, err);
      }
    }
    const settled = portions.filter(({ done }) => !failed.some(({ portion }) => portion.done === done));
    // A partition that has moved meanwhile is where its new member says.
    const processed = settled.filter((portion) => ours.includes(portion) && portion.isOurs());
    for (const portion of processed) portion.resolve();
    this.#commits.add(processed);
    for (const portion of settled) portion.done.resolve(processed.includes(portion));
    return failed;
  }
}

function failedAmong(portions: readonly WaitingPortion[], err: unknown): FailedPortion[] {
  if (!(err instanceof UnprocessedMessages)) return portions.map((portion) => ({ portion, err }));
  const unprocessed = new Set(err.messages);
  return portions
    .map((portion) => ({ portion: { ...portion, messages: portion.messages.filter((message) => unprocessed.has(message)) }, err }))
    .filter(({ portion }) => portion.messages.length > 0);
}

const fieldsOf = ({ messages }: Portion) => ({ from: messages[0]?.position, messages: messages.length });

/** Sends heartbeats during the work: work that takes longer than a session must not lose the partitions. */
async function withHeartbeats(heartbeat: () => Promise<void>, work: Promise<void>): Promise<void> {
  // If one fails, so does the heartbeat after the work, whose error is reported.
  const heartbeats = setInterval(() => void heartbeat().catch(() => {}), HEARTBEAT_MS);
  try {
    await work;
  } finally {
    clearInterval(heartbeats);
  }
}
