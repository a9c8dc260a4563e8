import { reportOf } from "../failure.ts";
import { errorReason } from "../output/error-reason.ts";
import { SERVICE_NAMES, type ServiceName } from "../connection/endpoints.ts";
import type { Session } from "../session.ts";

/** `warning`: it serves, and something it needs is away. `unknown`: there is nothing to check it by. Only `failed` makes the whole fail. */
export interface CheckResult {
  readonly name: string;
  readonly state: "ok" | "warning" | "failed" | "unknown";
  /** What was found. */
  readonly detail: string;
  /** What to do about it, unless it is fine. */
  readonly remedy?: string;
}

const ANSWER_MS = 5_000;
const PROCESSES = ["gateway", ...SERVICE_NAMES] as const;

/** Looks at everything there is an address for, all at the same time. */
export async function runChecks(session: Session): Promise<CheckResult[]> {
  const runFile = checkRunFile(session);
  if (runFile.state === "failed") return [runFile];
  const checks = [
    ...SERVICE_NAMES.map((name) => checkRpc(session, name)),
    ...PROCESSES.map((name) => checkReady(session, name)),
    checkBaseUrl(session),
  ];
  return [runFile, ...(await Promise.all(checks))];
}

function checkRunFile({ endpoints }: Session): CheckResult {
  const name = "run file";
  try {
    const found = endpoints.runFile();
    if (found !== undefined) return { name, state: "ok", detail: found.path };
    const detail = endpoints.runFileLack();
    const configured = SERVICE_NAMES.every((service) => endpoints.find(service) !== undefined);
    if (configured) return { name, state: "unknown", detail: `${detail}; flags and settings say where things are` };
    return { name, state: "failed", detail, remedy: `Run npm start and call brandctl from inside the repository, or ${SETTINGS}.` };
  } catch (error) {
    return failed(name, error);
  }
}

const SETTINGS = "set ACCOUNTS_ADDRESS, PLANS_ADDRESS, RECORDS_ADDRESS, WEBHOOK_ADDRESS and BASE_URL";

async function checkRpc(session: Session, service: ServiceName): Promise<CheckResult> {
  const name = `${service}, gRPC`;
  const endpoint = session.endpoints.find(service);
  if (endpoint === undefined) return { name, ...unaddressed(session, service) };
  try {
    const { checkRpcHealth } = await import("./rpc-health.ts");
    await checkRpcHealth(endpoint, session.endpoints.tls(), ANSWER_MS, session.terminal.interrupted);
    return { name, state: "ok", detail: `serving at ${endpoint.address} (${endpoint.from})` };
  } catch (error) {
    return failed(name, error);
  }
}

/** A run of a release that had no webhook service yet is well without it. */
function unaddressed(session: Session, service: ServiceName): Omit<CheckResult, "name"> {
  if (service === "webhook" && session.endpoints.runFile() !== undefined)
    return { state: "unknown", detail: "the run file does not name it" };
  return { state: "failed", detail: "no address known", remedy: `Run npm start, or ${SETTINGS}.` };
}

async function checkReady(session: Session, process: (typeof PROCESSES)[number]): Promise<CheckResult> {
  const name = `${process}, ready`;
  const file = session.endpoints.runFile();
  const origin = file?.admin[process];
  if (origin === undefined) return { name, state: "unknown", detail: "no run file names its admin address" };
  return checkUrl(
    session,
    name,
    { url: `${origin}/readyz`, remedy: `Is ${process} running? Its log is beside the run file, in .local/logs.` },
    async (response) => {
      const away = awayIn(await response.text());
      if (away.length === 0) return undefined;
      const remedy = away.includes(EVENT_LOG)
        ? `Is Kafka reachable (KAFKA_BROKERS), or without Kafka the webhook service? Events wait in the outbox, nothing is lost. The log of ${process} says more.`
        : `${process} serves without. Its log says more.`;
      return { name, state: "warning", detail: `serves without its ${away.join(", ")}`, remedy };
    },
  );
}

/** As a service names it whose events do not move. */
const EVENT_LOG = "event log";

/** What a process serves without, as /readyz tells it: `{"status":"ready","degraded":["event log"]}`. */
function awayIn(readiness: string): string[] {
  try {
    const { degraded } = JSON.parse(readiness) as { degraded?: unknown };
    return Array.isArray(degraded) ? degraded.filter((name) => typeof name === "string") : [];
  } catch {
    // Of a release that says it otherwise: its status is what counts.
    return [];
  }
}

async function checkBaseUrl(session: Session): Promise<CheckResult> {
  const name = "base URL";
  const endpoint = session.endpoints.find("base_url");
  if (endpoint === undefined) return { name, state: "unknown", detail: "no --base-url, no BASE_URL, no run file" };
  const url = `${endpoint.address.replace(/\/+$/, "")}/openapi/service.yaml`;
  return checkUrl(session, name, { url, remedy: `Is ${endpoint.address} (${endpoint.from}) the origin of this service?` });
}

/** @param look finds more to say in a good answer */
async function checkUrl(
  { terminal }: Session,
  name: string,
  { url, remedy }: { readonly url: string; readonly remedy: string },
  look: (response: Response) => Promise<CheckResult | undefined> = async () => undefined,
): Promise<CheckResult> {
  try {
    const signal = AbortSignal.any([terminal.interrupted, AbortSignal.timeout(ANSWER_MS)]);
    const response = await fetch(url, { signal, redirect: "error" });
    const found = response.ok ? await look(response) : undefined;
    if (!response.bodyUsed) await response.body?.cancel();
    if (found !== undefined) return found;
    const detail = `${url} answers ${response.status}`;
    return response.ok ? { name, state: "ok", detail } : { name, state: "failed", detail, remedy };
  } catch (error) {
    return { name, state: "failed", detail: `${url}: ${reasonOf(error)}`, remedy };
  }
}

/** fetch hides what happened in the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return errorReason(error);
  return error.name === "TimeoutError" ? `no answer within ${ANSWER_MS / 1_000} s` : errorReason(error.cause ?? error);
}

function failed(name: string, error: unknown): CheckResult {
  const { message, hint } = reportOf(error);
  return { name, state: "failed", detail: message, ...(hint !== undefined && { remedy: hint }) };
}
