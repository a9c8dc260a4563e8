import type { Redis } from "ioredis";

export interface RedisLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface RedisClientOptions {
  /** Gets one line at each change of state, of each node in a cluster. */
  readonly log?: RedisLog;
  /** Default: 20. */
  readonly commandTimeoutMs?: number;
  /** At each change of `isUp`, the first one included; `cause` says why Redis is down. */
  readonly onStateChange?: (isUp: boolean, cause?: unknown) => void;
  /** What was written lately may be gone: a server is back after it was down, or another one serves its keys. */
  readonly onPossibleLoss?: () => void;
}

/** A Redis, or a Redis Cluster, that never makes anybody wait: see GuardedRedis for what a command may count on. */
export interface RedisClient {
  /** Every key can be served. */
  readonly isUp: boolean;
  /** Resolves once it is known whether Redis is up or down: after 2 s at the latest. */
  readonly firstContact: Promise<void>;
  /**
   * Runs `command`, which sends one command about `key` (or others with its hash tag) and does nothing else. An error reply concerns that
   * key; unavailable is the server that has it.
   *
   * @throws RedisUnavailable, RedisReplyError
   */
  run<T>(key: string, command: (redis: Redis) => Promise<T>): Promise<T>;
  /** Any number of calls. */
  stop(): Promise<void>;
}
