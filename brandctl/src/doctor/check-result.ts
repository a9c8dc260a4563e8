export interface CheckResult {
  /** What was checked. */
  readonly name: string;
  /** `degraded`: it serves, but something is wrong. `not_checked`: its address is not known. */
  readonly state: "ok" | "degraded" | "failed" | "not_checked";
  readonly detail: string;
  /** What to do, unless the state is `ok`. */
  readonly remedy?: string;
}

/** The worst state of all checks; `well` if all are `ok`. */
export type Verdict = "well" | "not_all_checked" | "degraded" | "failed";

export function verdictOf(checks: readonly CheckResult[]): Verdict {
  const any = (state: CheckResult["state"]): boolean => checks.some((check) => check.state === state);
  if (any("failed")) return "failed";
  if (any("degraded")) return "degraded";
  return any("not_checked") ? "not_all_checked" : "well";
}
