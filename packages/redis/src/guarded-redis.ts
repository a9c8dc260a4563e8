import { startReplyDeadline } from "@brand-records/lifecycle";
import { Redis } from "ioredis";
import type { RedisClientOptions } from "./redis-client.ts";
import { cleanError, isReplyAboutCommand, mayHaveRun, RedisReplyError, RedisUnavailable } from "./redis-errors.ts";

const COMMAND_TIMEOUT_MS = 20;
/** Pause between two attempts to connect, and between two PINGs to a Redis whose replies are errors or late. */
const PAUSE_MS_MAX = 500;
/** A host that goes silent is dialled again after this; TCP alone would take a quarter of an hour to notice. */
const SILENCE_MS_MAX = 2_000;
/** Nothing that a closing connection still receives is used. */
const DISCONNECT_MS_MAX = 10;

/** A node of a cluster. */
interface RedisNode {
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
  readonly tls?: object;
}

type GuardedRedisOptions = Omit<RedisClientOptions, "onPossibleLoss">;

/**
 * A connection to one server that never blocks its callers. A command gets its reply within the timeout or fails with
 * RedisUnavailable. After such a failure commands fail immediately and are not sent, until a PING succeeds within the timeout. So a
 * frozen Redis executes, when it thaws, only the commands that were in flight when it froze. No command is ever sent twice. A failed
 * command may have been executed.
 *
 * Connects and reconnects automatically. The server need not be reachable yet: it counts as down until the first PING succeeds.
 */
export class GuardedRedis {
  readonly #redis: Redis;
  readonly #options: GuardedRedisOptions;
  readonly #commandTimeoutMs: number;
  readonly #firstContact = Promise.withResolvers<void>();
  #state: "unknown" | "up" | "down" = "unknown";
  #downCause: unknown = new Error("not connected yet");
  #connectionError: Error | undefined;
  /** Number in a row, since the last reply. */
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
      // Both are needed: 0 rejects commands in flight as soon as the connection is lost, false keeps them from being sent again.
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      // The client's wait for a dataset to load cannot be cancelled. Our PING, refused during the load, has the same effect.
      enableReadyCheck: false,
      retryStrategy: (attempts: number) => Math.min(attempts * 50, PAUSE_MS_MAX),
      // A primary that became a replica remains one on this connection; dialling again finds the new primary.
      reconnectOnError: (error: Error) => error.message.includes("READONLY"),
      connectTimeout: SILENCE_MS_MAX,
      socketTimeout: SILENCE_MS_MAX,
      disconnectTimeout: DISCONNECT_MS_MAX,
      // Does not make a redis:// URL one over TLS.
      ...(options.tlsCa !== undefined && isTls(target) && { tls: { ca: options.tlsCa } }),
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

  /** Resolves once it is known whether Redis is up or down: at most after the connect timeout of 2 s. */
  get firstContact(): Promise<void> {
    return this.#firstContact.promise;
  }

  /**
   * Runs `command`, which must send one command and do nothing else: any failure except an error reply about that command counts as an
   * outage.
   *
   * @throws RedisUnavailable, RedisReplyError
   */
  async run<T>(command: (redis: Redis) => Promise<T>): Promise<T> {
    if (!this.isUp) throw new RedisUnavailable(this.#downCause);
    try {
      const reply = await this.#beforeDeadline(command(this.#redis));
      this.#failures = 0;
      return reply;
    } catch (error) {
      const cause = cleanError(error);
      if (isReplyAboutCommand(error)) {
        this.#failures = 0;
        throw new RedisReplyError(cause);
      }
      this.#fail(cause);
      throw new RedisUnavailable(cause, { wasSent: mayHaveRun(error) });
    }
  }

  /** Resolves when the connection is closed. Commands in flight fail. May be called any number of times. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#firstContact.resolve();
    this.#state = "down";
    this.#downCause = new Error("stopped");
    clearTimeout(this.#probeTimer);
    // Between two attempts to connect there is no connection whose end would be reported.
    const hasConnection = this.#redis.status !== "reconnecting" && this.#redis.status !== "end";
    const ended = new Promise<void>((resolve) => this.#redis.once("end", () => resolve()));
    this.#redis.disconnect();
    if (hasConnection) await ended;
  }

  #beforeDeadline<T>(reply: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = startReplyDeadline(this.#commandTimeoutMs, () => reject(this.#timeoutError()));
      reply.then(resolve, reject).finally(cancel);
    });
  }

  #timeoutError(): Error {
    return new Error(`no reply within ${this.#commandTimeoutMs} ms`);
  }

  #fail(cause: unknown): void {
    if (this.#isStopped) return;
    if (this.#state !== "down") {
      this.#state = "down";
      this.#downCause = cause;
      this.#failures += 1;
      this.#options.log?.warn({ err: cause }, "redis is unavailable");
      this.#options.onStateChange?.(false, cause);
      this.#firstContact.resolve();
    }
    this.#probeSoon();
  }

  /** Immediately after a first failure, later after each further one. Without a connection, the "ready" event calls this again. */
  #probeSoon(): void {
    if (this.#isStopped || this.isUp || this.#isProbing || this.#probeTimer !== undefined) return;
    const pauseMs = this.#failures <= 1 ? 0 : Math.min(25 * 2 ** (this.#failures - 1), PAUSE_MS_MAX);
    this.#probeTimer = setTimeout(() => {
      this.#probeTimer = undefined;
      if (this.#redis.status === "ready") void this.#probe();
    }, pauseMs);
  }

  /** Waits for its PING without a limit, so no second one is ever in flight. */
  async #probe(): Promise<void> {
    this.#isProbing = true;
    let failure: unknown;
    const cancel = startReplyDeadline(this.#commandTimeoutMs, () => {
      failure = this.#timeoutError();
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
    this.#options.log?.info({}, "redis is available");
    this.#options.onStateChange?.(true);
    this.#firstContact.resolve();
  }
}

const isTls = (target: string | RedisNode): boolean =>
  typeof target === "string" ? target.startsWith("rediss:") : target.tls !== undefined;
