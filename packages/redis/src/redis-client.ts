import type { Redis } from "ioredis";

export interface RedisLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface RedisClientOptions {
  /** Receives one line at each change of state; in a cluster, of each node. */
  readonly log?: RedisLog;
  /** Command timeout in milliseconds. Default: 20. */
  readonly commandTimeoutMs?: number;
  /** The authorities of the server's certificate, in PEM form. Default: those of Node. */
  readonly tlsCa?: string | undefined;
  /** Called at each change of `isUp`, including the first; `cause` is why Redis is down. */
  readonly onStateChange?: (isUp: boolean, cause?: unknown) => void;
  /** Called when recent writes may be lost: a server is back after an outage, or another one serves its keys. */
  readonly onPossibleLoss?: () => void;
}

/** A Redis server or cluster that never blocks its callers; GuardedRedis states what a command guarantees. */
export interface RedisClient {
  /** Whether every key can be served. */
  readonly isUp: boolean;
  /** Resolves once it is known whether Redis is up or down: after at most 2 s. */
  readonly firstContact: Promise<void>;
  /**
   * Runs `command`, which must send one command about `key` (or others with its hash tag) and do nothing else. RedisUnavailable
   * concerns the server that holds the key, RedisReplyError the key.
   *
   * @throws RedisUnavailable, RedisReplyError
   */
  run<T>(key: string, command: (redis: Redis) => Promise<T>): Promise<T>;
  /** May be called any number of times. */
  stop(): Promise<void>;
}
