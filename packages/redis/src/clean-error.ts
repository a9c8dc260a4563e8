/** Servers without HELLO or AUTH quote the arguments of the command that they do not know: the password among them. */
const QUOTED_ARGUMENTS = /,? with args beginning with.*/g;

/**
 * Copies an error of ioredis without the command that it failed with. ioredis attaches `command.args`, which for AUTH and
 * HELLO are the user name and the password, and a logger prints every property of an error.
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
