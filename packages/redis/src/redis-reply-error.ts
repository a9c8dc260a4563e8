import { ReplyError } from "ioredis";

/** What a server says that serves nobody just now, whatever it is asked. */
const OUTAGE = /^(LOADING|MASTERDOWN|READONLY|NOAUTH|BUSY|MISCONF)\b/;

/**
 * Redis answered, with an error: the command failed, and the connection is as good as before. It concerns what the command touched (a key
 * of the wrong type, a slot that lies elsewhere), so for everything else Redis can still be asked. Callers must have another way.
 */
export class RedisReplyError extends Error {
  override readonly name = "RedisReplyError";
  /** Its first word: WRONGTYPE, MOVED, ERR and so on. */
  readonly code: string;

  constructor(cause: Error) {
    super(`Redis refused the command: ${cause.message}`, { cause });
    this.code = cause.message.split(" ", 1)[0] ?? "";
  }
}

/** Whether ioredis threw this because of what the server said about one command. */
export const isReplyAboutCommand = (thrown: unknown): boolean =>
  thrown instanceof (ReplyError as ErrorConstructor) && !OUTAGE.test(thrown.message);
