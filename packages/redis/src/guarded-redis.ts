import { Redis } from "ioredis";
import { cleanError } from "./clean-error.ts";
import type { RedisClientOptions } from "./redis-client.ts";
import { isReplyAboutCommand, RedisReplyError } from "./redis-reply-error.ts";
import { RedisUnavailable } from "./redis-unavailable.ts";
import { startReplyDeadline } from "./reply-deadline.ts";

const COMMAND_TIMEOUT_MS = 20;
/** Between two attempts to connect, and between two PINGs to a Redis that answers but not as it should. */
const PAUSE_MS_MAX = 500;
/** A host that is gone without a word is dialled anew after this; TCP alone would take a quarter of an hour to notice. */
const SILENCE_MS_MAX = 2_000;
/** What a closing connection has left to say is of no use to anyone. */
const DISCONNECT_MS_MAX = 10;

/** A node of a cluster. */
export interface RedisNode {
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
  readonly tls?: object;
}

type GuardedRedisOptions = Omit<RedisClientOptions, "onPossibleLoss">;

/**
 * One server that never makes anybody wait. A command is answered within the time-out or fails with RedisUnavailable; after
 * one such failure commands fail at once and none is sent, until a PING has answered within the time-out. So
 * what a frozen Redis executes when it thaws is bounded by what was under way when it froze. No command is ever sent
 * twice. What failed may nevertheless have been executed.
 *
 * Connects by itself, now and after every loss. Nothing must be reachable yet: until a first PING has answered the server
 * counts as down.
 */
export class GuardedRedis {
  readonly #redis: Redis;
  readonly #options: GuardedRedisOptions;
  readonly #commandTimeoutMs: number;
  readonly #firstContact = Promise.withResolvers<void>();
  #state: "unknown" | "up" | "down" = "unknown";
  #downBecause: unknown = new Error("not connected yet");
  #connectionError: Error | undefined;
  /** Since a command was last answered. */
  #failures = 0;
  #isProbing = false;
  #probeTimer: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** @param target a redis:// URL, or a node of a cluster */
  constructor(target: string | RedisNode, options: GuardedRedisOptions = {}) {
    this.#options = options;
    this.#commandTimeoutMs = options.commandTimeoutMs ?? COMMAND_TIMEOUT_MS;
    const connection = {
      enableOfflineQueue: false,
      // Both are needed: 0 rejects what was under way as soon as the connection is lost, false keeps it from being sent again.
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      // Its waiting for a dataset to load cannot be stopped; our PING is refused meanwhile and does the same.
      enableReadyCheck: false,
      retryStrategy: (attempts: number) => Math.min(attempts * 50, PAUSE_MS_MAX),
      // A primary that became a replica stays one on this connection; whoever took over is found by dialling again.
      reconnectOnError: (error: Error) => error.message.includes("READONLY"),
      connectTimeout: SILENCE_MS_MAX,
      socketTimeout: SILENCE_MS_MAX,
      disconnectTimeout: DISCONNECT_MS_MAX,
    };
    this.#redis = typeof target === "string" ? new Redis(target, connection) : new Redis({ ...target, ...connection });
    this.#redis.on("error", (error: Error) => {
      this.#connectionError = cleanError(error);
    });
    this.#redis.on("close", () => this.#fail(this.#connectionError ?? new Error("the connection closed")));
    this.#redis.on("ready", () => this.#probeSoon());
  }

  get isUp(): boolean {
    return this.#state === "up";
  }

  /** Resolves once it is known whether Redis is up or down: after the connect time-out of 2 s at the latest. */
  get firstContact(): Promise<void> {
    return this.#firstContact.promise;
  }

  /**
   * Runs `command`, which sends one command and does nothing else: whatever it fails with, but for an error reply about that
   * command, counts as Redis failing.
   *
   * @throws RedisUnavailable, RedisReplyError
   */
  async run<T>(command: (redis: Redis) => Promise<T>): Promise<T> {
    if (!this.isUp) throw new RedisUnavailable(this.#downBecause);
    try {
      const reply = await this.#inTime(command(this.#redis));
      this.#failures = 0;
      return reply;
    } catch (error) {
      const cause = cleanError(error);
      if (isReplyAboutCommand(error)) {
        this.#failures = 0;
        throw new RedisReplyError(cause);
      }
      this.#fail(cause);
      throw new RedisUnavailable(cause);
    }
  }

  /** Resolves when the connection is closed; what is under way fails. Any number of calls. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#firstContact.resolve();
    this.#state = "down";
    this.#downBecause = new Error("stopped");
    clearTimeout(this.#probeTimer);
    // Between two attempts to connect there is nothing that could end.
    const hasConnection = this.#redis.status !== "reconnecting" && this.#redis.status !== "end";
    const ended = new Promise<void>((resolve) => this.#redis.once("end", () => resolve()));
    this.#redis.disconnect();
    if (hasConnection) await ended;
  }

  #inTime<T>(reply: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = startReplyDeadline(this.#commandTimeoutMs, () => reject(this.#tooLate()));
      reply.then(resolve, reject).finally(cancel);
    });
  }

  #tooLate(): Error {
    return new Error(`no answer within ${this.#commandTimeoutMs} ms`);
  }

  #fail(cause: unknown): void {
    if (this.#isStopped) return;
    if (this.#state !== "down") {
      this.#state = "down";
      this.#downBecause = cause;
      this.#failures += 1;
      this.#options.log?.warn({ err: cause }, "redis is unavailable");
      this.#options.onStateChange?.(false, cause);
      this.#firstContact.resolve();
    }
    this.#probeSoon();
  }

  /** At once after a first failure; the more failures in a row, the later. Without a connection "ready" calls again. */
  #probeSoon(): void {
    if (this.#isStopped || this.isUp || this.#isProbing || this.#probeTimer !== undefined) return;
    const pauseMs = this.#failures <= 1 ? 0 : Math.min(25 * 2 ** (this.#failures - 1), PAUSE_MS_MAX);
    this.#probeTimer = setTimeout(() => {
      this.#probeTimer = undefined;
      if (this.#redis.status === "ready") void this.#probe();
    }, pauseMs);
  }

  /** Waits for its PING however long that takes, so there is never a second one under way. */
  async #probe(): Promise<void> {
    this.#isProbing = true;
    let failure: unknown;
    const cancel = startReplyDeadline(this.#commandTimeoutMs, () => {
      failure = this.#tooLate();
      this.#fail(failure);
    });
    try {
      await this.#redis.ping();
    } catch (error) {
      failure = cleanError(error);
    }
    cancel();
    this.#isProbing = false;
    if (failure === undefined) return this.#recover();
    this.#failures += 1;
    this.#fail(failure);
  }

  #recover(): void {
    if (this.#isStopped) return;
    this.#state = "up";
    this.#connectionError = undefined;
    this.#options.log?.info({}, "redis answers");
    this.#options.onStateChange?.(true);
    this.#firstContact.resolve();
  }
}
