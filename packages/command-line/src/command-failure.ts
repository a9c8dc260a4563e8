/** A command that fails. `message` says why, `hint` what to do next. */
export class CommandFailure extends Error {
  override readonly name: string = "CommandFailure";
  readonly code: string;
  readonly hint: string | undefined;

  constructor(code: string, message: string, options: ErrorOptions & { readonly hint?: string | undefined } = {}) {
    super(message, options);
    this.code = code;
    this.hint = options.hint;
  }
}

/** The command line, its files or the environment are wrong, and nothing was sent: exit code 2. */
export class UsageFailure extends CommandFailure {
  override readonly name = "UsageFailure";

  constructor(message: string, hint?: string, code = "usage") {
    super(code, message, { hint });
  }
}

/** Stopped by Ctrl-C: exit code 130. `message` states whether the work was done, if that is known. */
export class Interrupted extends CommandFailure {
  override readonly name = "Interrupted";

  constructor(message: string, hint?: string) {
    super("interrupted", message, { hint });
  }
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageFailure) return 2;
  return error instanceof Interrupted ? 130 : 1;
}
