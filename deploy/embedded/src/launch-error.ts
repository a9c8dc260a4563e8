/** The start failed for a reason the person at the terminal can mend; shown without a stack. */
export class LaunchError extends Error {
  override readonly name = "LaunchError";
}
