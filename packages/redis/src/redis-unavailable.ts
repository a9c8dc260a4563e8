/**
 * Redis did not do it, as far as we can tell: it may still, when it was too late rather than gone. `cause` says why.
 * Whoever calls must have another way.
 */
export class RedisUnavailable extends Error {
  override readonly name = "RedisUnavailable";

  constructor(cause: unknown) {
    super(`Redis is unavailable: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
