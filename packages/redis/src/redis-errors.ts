import { isTlsFailure } from "@brand-records/lifecycle";
import { ReplyError } from "ioredis";

/** Redis did not execute the command, as far as we know: a late command may still be executed. Callers must have a fallback. */
export class RedisUnavailable extends Error {
  override readonly name = "RedisUnavailable";
  /** The command was sent, and no reply arrived: it may have been executed. */
  readonly wasSent: boolean;

  constructor(cause: unknown, { wasSent = false } = {}) {
    super(`Redis is unavailable: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.wasSent = wasSent;
  }
}

/**
 * Redis replied with an error about the command, such as a key of the wrong type or a slot on another node. The connection is fine,
 * and other commands can be sent. Callers must have a fallback.
 */
export class RedisReplyError extends Error {
  override readonly name = "RedisReplyError";
  /** The first word of the reply: WRONGTYPE, MOVED, ERR and so on. */
  readonly code: string;

  constructor(cause: Error) {
    super(`Redis refused the command: ${cause.message}`, { cause });
    this.code = cause.message.split(" ", 1)[0] ?? "";
  }
}

/** Error replies that concern the whole server, whatever the command. */
const OUTAGE = /^(LOADING|MASTERDOWN|READONLY|NOAUTH|BUSY|MISCONF)\b/;

/** Whether ioredis threw this for an error reply that concerns one command. */
export const isReplyAboutCommand = (thrown: unknown): boolean =>
  thrown instanceof (ReplyError as ErrorConstructor) && !OUTAGE.test(thrown.message);

/** Whether the server may have run a command that failed so: not if it refused, nor if the client could not write. */
export const mayHaveRun = (thrown: unknown): boolean =>
  !(thrown instanceof (ReplyError as ErrorConstructor)) &&
  !(thrown instanceof Error && thrown.message.startsWith("Stream isn't writeable"));

/** Replies to a login that is missing or wrong, or lacks the right. */
const REFUSAL = /^(NOAUTH|WRONGPASS|NOPERM)\b/;

/** Returns the words of a refusal that only other settings end: of the login, or of the certificate by TLS. Undefined for any other error. */
export function refusalIn(error: unknown): string | undefined {
  const cause = error instanceof RedisUnavailable || error instanceof RedisReplyError ? error.cause : undefined;
  if (!(cause instanceof Error)) return undefined;
  return REFUSAL.test(cause.message) || ("code" in cause && isTlsFailure(String(cause.code))) ? cause.message : undefined;
}

/** Servers without HELLO or AUTH quote the arguments of the unknown command, the password among them. */
const QUOTED_ARGUMENTS = /,? with args beginning with.*/g;

/**
 * Copies an error of ioredis without its command. ioredis attaches `command.args`, which for AUTH and HELLO are the user name and the
 * password, and a logger prints every property of an error.
 */
export function cleanError(thrown: unknown): Error {
  if (!(thrown instanceof Error)) return new Error(String(thrown));
  // Connecting to a name with several addresses fails with an AggregateError, whose own message is empty.
  const message = thrown.message === "" && thrown instanceof AggregateError ? thrown.errors.map(String).join("; ") : thrown.message;
  const clean: Error & { code?: unknown } = new Error(withoutArguments(message));
  clean.name = thrown.name;
  clean.stack = withoutArguments(thrown.stack ?? "");
  if ("code" in thrown) clean.code = thrown.code;
  return clean;
}

const withoutArguments = (text: string): string => text.replace(QUOTED_ARGUMENTS, "");
