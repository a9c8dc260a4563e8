import { ADMIN_FLAG, adminSetting, type AdminAddress, type ProcessName } from "../connection/admin-addresses.ts";
import { problemsIn, readMetrics, remedyFor, type Problem } from "./process-problems.ts";
import { fetchText, type Fetched } from "./reachability.ts";

/** Until then a process may still be joining Kafka's group, and names may have the addresses of those that it replaced. */
const YOUNG_SECONDS = 60;

/** Checks the readiness and the metrics of each replica of a process. */
export async function checkProcess(
  process: ProcessName,
  addresses: readonly AdminAddress[],
  interrupted: AbortSignal,
): Promise<CheckResult[]> {
  const name = `${process}, ready`;
  if (addresses.length > 0) {
    const results = await Promise.all(addresses.map((address) => checkReplica(name, process, address, interrupted)));
    if (results.length === 1) return results;
    // With several, the detail says which.
    return results.map((result, index) => ({ ...result, detail: withOrigin(result.detail, addresses[index]?.origin ?? "") }));
  }
  return [
    {
      name,
      state: "not_checked",
      detail: "not checked: its admin address is not known",
      remedy: `Set ${adminSetting(process)} or pass ${ADMIN_FLAG} ${process}=URL: its admin port (ADMIN_HOST, ADMIN_PORT), such as http://${process}:9090.`,
    },
  ];
}

const withOrigin = (detail: string, origin: string): string => (detail.startsWith(origin) ? detail : `${origin}: ${detail}`);

async function checkReplica(
  name: string,
  process: ProcessName,
  { origin, from }: AdminAddress,
  interrupted: AbortSignal,
): Promise<CheckResult> {
  const [readiness, fetched] = await Promise.all([fetchText(`${origin}/readyz`, interrupted), fetchText(`${origin}/metrics`, interrupted)]);
  const metrics = readMetrics(bodyOf(fetched));
  const { waiting_for: waitingFor, degraded } = namesIn(bodyOf(readiness));
  const isYoung = (metrics.value("process_start_time_seconds") ?? 0) > Date.now() / 1_000 - YOUNG_SECONDS;
  const starting = (isYoung || waitingFor.includes("process")) && { starting: true };
  const failed = (detail: string, remedy: string): CheckResult => ({ name, state: "failed", detail, remedy, ...starting });
  const remedy = `Is ${process} running, and is this its admin address (${from})? Its log says more.`;
  if ("failure" in readiness) return failed(`${origin}/readyz: ${readiness.failure}`, remedy);
  if (readiness.status !== 200) {
    if (waitingFor.length === 0) return failed(`${origin}/readyz returns ${readiness.status}`, remedy);
    return failed(`not ready, waits for its ${waitingFor.join(", ")}`, distinct(waitingFor.map(remedyFor)));
  }
  if (metrics.service !== undefined && metrics.service !== process)
    return failed(`${origin} is the admin address of ${metrics.service}, not of ${process}`, remedy);
  const problems: Problem[] = [
    ...(degraded.length > 0 ? [{ detail: `serves without its ${degraded.join(", ")}`, remedy: distinct(degraded.map(remedyFor)) }] : []),
    ...(metricsFailure(origin, fetched) ?? problemsIn(process, metrics, degraded)),
  ];
  if (problems.length === 0) return { name, state: "ok", detail: `${origin} is ready (${from})`, ...starting };
  return {
    name,
    state: "degraded",
    detail: problems.map(({ detail }) => detail).join("; "),
    remedy: distinct(problems.map(({ remedy }) => remedy)),
    ...starting,
  };
}

/** A ready process serves; unreadable metrics are a problem of their own. */
function metricsFailure(origin: string, metrics: Fetched): Problem[] | undefined {
  if ("body" in metrics && metrics.status === 200) return undefined;
  const reason = "failure" in metrics ? metrics.failure : `status ${metrics.status}`;
  return [{ detail: `${origin}/metrics cannot be read: ${reason}`, remedy: "Its log says more." }];
}

const bodyOf = (fetched: Fetched): string => ("body" in fetched ? fetched.body : "");
const distinct = (remedies: readonly string[]): string => [...new Set(remedies)].join(" ");

/** `{"status":"not ready","waiting_for":["postgres"]}` or `{"status":"ready","degraded":["event log"]}`. */
function namesIn(readiness: string): { readonly waiting_for: readonly string[]; readonly degraded: readonly string[] } {
  try {
    const parsed = (JSON.parse(readiness) ?? {}) as Record<string, unknown>;
    const names = (value: unknown): string[] => (Array.isArray(value) ? value.filter((name) => typeof name === "string") : []);
    return { waiting_for: names(parsed["waiting_for"]), degraded: names(parsed["degraded"]) };
  } catch {
    // Another release may write another body; the status decides.
    return { waiting_for: [], degraded: [] };
  }
}

export interface CheckResult {
  /** What was checked. */
  readonly name: string;
  /** `degraded`: it serves, but something is wrong. `not_checked`: its address is not known. */
  readonly state: "ok" | "degraded" | "failed" | "not_checked";
  readonly detail: string;
  /** What to do, unless the state is `ok`. */
  readonly remedy?: string;
  /** The process started less than a minute ago, or is starting or stopping. */
  readonly starting?: boolean;
}

/** The worst state of all checks; `well` if all are `ok`. */
export type Verdict = "well" | "not_all_checked" | "degraded" | "failed";

export function verdictOf(checks: readonly CheckResult[]): Verdict {
  const any = (state: CheckResult["state"]): boolean => checks.some((check) => check.state === state);
  if (any("failed")) return "failed";
  if (any("degraded")) return "degraded";
  return any("not_checked") ? "not_all_checked" : "well";
}
