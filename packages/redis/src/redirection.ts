import type { Redis } from "ioredis";
import { RedisReplyError } from "./redis-reply-error.ts";

/** A node that does not serve a key's slot names the one that does. It has not executed the command. */
export interface Redirection {
  /** MOVED: from now on. ASK: this once, while the slot is being moved. */
  readonly kind: "MOVED" | "ASK";
  readonly slot: number;
  /** `host:port`; the host is empty if it is the one that was asked. */
  readonly to: string;
}

const FORM = /(MOVED|ASK) (\d{1,5}) (\S*:\d{1,5})$/;

export function redirectionIn(thrown: unknown): Redirection | undefined {
  if (!(thrown instanceof RedisReplyError) || (thrown.code !== "MOVED" && thrown.code !== "ASK")) return undefined;
  const [, , slot, to] = FORM.exec(thrown.message) ?? [];
  return slot === undefined || to === undefined ? undefined : { kind: thrown.code, slot: Number(slot), to };
}

/** `command`, for a node that a slot is just being moved to. Both travel together, so nothing comes between them. */
export const asking =
  <T>(command: (redis: Redis) => Promise<T>) =>
  async (redis: Redis): Promise<T> => {
    const [, reply] = await Promise.all([redis.call("ASKING"), command(redis)]);
    return reply;
  };
