import type { Redis } from "ioredis";
import { RedisReplyError } from "./redis-errors.ts";

/** Names the node that serves a key's slot. The node that sent it has not executed the command. */
interface Redirection {
  /** MOVED: from now on. ASK: for this command only, while the slot is being moved. */
  readonly kind: "MOVED" | "ASK";
  readonly slot: number;
  /** `host:port`; an empty host is that of the node that sent the redirection. */
  readonly to: string;
}

const FORM = /(MOVED|ASK) (\d{1,5}) (\S*:\d{1,5})$/;

export function redirectionIn(thrown: unknown): Redirection | undefined {
  if (!(thrown instanceof RedisReplyError) || (thrown.code !== "MOVED" && thrown.code !== "ASK")) return undefined;
  const [, , slot, to] = FORM.exec(thrown.message) ?? [];
  return slot === undefined || to === undefined ? undefined : { kind: thrown.code, slot: Number(slot), to };
}

/** Sends ASKING before `command`, for a node to which a slot is being moved. Both are sent together, so no command comes between. */
export const afterAsking =
  <T>(command: (redis: Redis) => Promise<T>) =>
  async (redis: Redis): Promise<T> => {
    const [, reply] = await Promise.all([redis.call("ASKING"), command(redis)]);
    return reply;
  };
