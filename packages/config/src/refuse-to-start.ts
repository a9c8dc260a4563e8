/** sysexits.h: a person must act, and starting again does not help. */
const EX_CONFIG = 78;

/** Tells people why a program cannot start, without a stack, and ends it. Standard error is synchronous here: nothing of the text is lost. */
export function refuseToStart(reason: string): never {
  process.stderr.write(`${reason}\n`);
  process.exit(EX_CONFIG);
}
