import { setTimeout as pause } from "node:timers/promises";
import { printable } from "@brand-records/command-line";
import { findAdminAddresses, PROCESS_NAMES, replicaAddresses } from "../connection/admin-addresses.ts";
import { SERVICE_NAMES, type Endpoint } from "../connection/endpoints.ts";
import { reportOf } from "../failure.ts";
import type { Session } from "../session.ts";
import { checkCells } from "./check-cells.ts";
import { checkProcess, type CheckResult } from "./check-process.ts";
import { fetchText } from "./reachability.ts";

const HEALTH_MS = 5_000;
const PAUSE_MS = 1_000;

/** Repeats the checks for at most `waitSeconds`, while something is wrong and processes have just started. Says what it waits for. */
export async function runSettledChecks(session: Session, adminFlags: readonly string[], waitSeconds: number): Promise<CheckResult[]> {
  const deadline = performance.now() + waitSeconds * 1_000;
  for (let isNoted = false; ; isNoted = true) {
    const checks = await runChecks(session, adminFlags);
    const wrong = checks.filter(({ state }) => state === "failed" || state === "degraded");
    const mayChange = wrong.length > 0 && checks.some(({ starting }) => starting === true);
    if (!mayChange || performance.now() >= deadline) return checks;
    const what = wrong.map(({ name, detail }) => `${name}: ${printable(detail)}`).join("\n  ");
    if (!isNoted) session.note(({ dim }) => dim(`Processes have just started. Checking again for up to ${waitSeconds} s:\n  ${what}`));
    await pause(PAUSE_MS, undefined, { signal: session.terminal.interrupted });
  }
}

/**
 * Checks everything whose address is known, concurrently.
 *
 * @param adminFlags admin addresses, such as `records=http://records:9090`
 * @throws CommandFailure for a malformed admin address
 */
async function runChecks(session: Session, adminFlags: readonly string[]): Promise<CheckResult[]> {
  const runFile = checkRunFile(session);
  if (runFile.state === "failed") return [runFile];
  const { env, interrupted } = session.terminal;
  const admin = findAdminAddresses({ flags: adminFlags, env, runFile: session.endpoints.runFile() });
  const checks = await Promise.all([
    ...SERVICE_NAMES.map((name) => checkRpc(session, name, session.endpoints.find(name))),
    ...Array.from(session.endpoints.cells(), ([cell, endpoint]) => checkRpc(session, `records in ${cell}`, endpoint)),
    checkCells(session).catch((error: unknown) => failed("brands of cells", error)),
    ...PROCESS_NAMES.map(async (name) => {
      const replicas = await Promise.all((admin.get(name) ?? []).map((address) => replicaAddresses(address)));
      return checkProcess(name, replicas.flat(), interrupted);
    }),
    checkBaseUrl(session),
  ]);
  return [runFile, ...checks.flat()];
}

function checkRunFile({ endpoints }: Session): CheckResult {
  const name = "run file";
  try {
    const found = endpoints.runFile();
    if (found !== undefined) return { name, state: "ok", detail: found.path };
    const detail = endpoints.runFileProblem();
    const configured = SERVICE_NAMES.every((service) => endpoints.find(service) !== undefined);
    if (configured) return { name, state: "ok", detail: `${detail}, and none is needed: flags and settings have the addresses` };
    return { name, state: "failed", detail, remedy: `Run npm start and call brandctl from inside the repository, or ${SETTINGS}.` };
  } catch (error) {
    return failed(name, error);
  }
}

const SETTINGS = "set ACCOUNTS_ADDRESS, PLANS_ADDRESS, RECORDS_ADDRESS, WEBHOOK_ADDRESS and BASE_URL";

async function checkRpc(session: Session, service: string, endpoint: Endpoint | undefined): Promise<CheckResult> {
  const name = `${service}, gRPC`;
  if (endpoint === undefined)
    return { name, state: "failed", detail: "its address is not known", remedy: `Run npm start, or ${SETTINGS}.` };
  try {
    const { checkRpcHealth } = await import("./rpc-health.ts");
    await checkRpcHealth(endpoint, session.endpoints.tls(), HEALTH_MS, session.terminal.interrupted);
    return { name, state: "ok", detail: `serving at ${endpoint.address} (${endpoint.from})` };
  } catch (error) {
    return failed(name, error);
  }
}

async function checkBaseUrl(session: Session): Promise<CheckResult> {
  const name = "base URL";
  const endpoint = session.endpoints.find("base_url");
  if (endpoint === undefined) {
    return { name, state: "not_checked", detail: "not checked: no --base-url, no BASE_URL, no run file", remedy: "Set BASE_URL." };
  }
  const url = `${endpoint.address.replace(/\/+$/, "")}/openapi/service.yaml`;
  const fetched = await fetchText(url, session.terminal.interrupted);
  if ("status" in fetched && fetched.status === 200) return { name, state: "ok", detail: `${url} returns 200` };
  const detail = "failure" in fetched ? `${url}: ${fetched.failure}` : `${url} returns ${fetched.status}`;
  return { name, state: "failed", detail, remedy: `Is ${endpoint.address} (${endpoint.from}) the origin of this service?` };
}

function failed(name: string, error: unknown): CheckResult {
  const { message, hint } = reportOf(error);
  return { name, state: "failed", detail: message, ...(hint !== undefined && { remedy: hint }) };
}
