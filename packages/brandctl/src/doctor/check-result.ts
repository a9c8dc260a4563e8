/**
 * `degraded`: it serves, and something is wrong all the same. `not_checked`: there is no address to look at, so nothing is
 * known.
 */
export interface CheckResult {
  readonly name: string;
  readonly state: "ok" | "degraded" | "failed" | "not_checked";
  /** What was found. */
  readonly detail: string;
  /** What to do about it, unless it is fine. */
  readonly remedy?: string;
}

/** Of all checks together: the worst. */
export type Verdict = "well" | "not_all_checked" | "degraded" | "failed";

export function verdictOf(checks: readonly CheckResult[]): Verdict {
  const any = (state: CheckResult["state"]): boolean => checks.some((check) => check.state === state);
  if (any("failed")) return "failed";
  if (any("degraded")) return "degraded";
  return any("not_checked") ? "not_all_checked" : "well";
}
