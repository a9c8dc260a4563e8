import { AppError } from "@brand-records/errors";
import { METHODS } from "@brand-records/proto/methods";
import type { AuditServiceService, Client } from "@brand-records/proto/accounts/v1";
import type { Receiver } from "@brand-records/proto/webhook/v1";
import {
  type CallContext,
  type connectRpc,
  isUnimplemented,
  newCallContext,
  plannedEntry,
  type PlannedEntry,
  RECORDED_TRAILER,
  type RpcClient,
} from "@brand-records/rpc";
import type { Logger } from "@brand-records/telemetry";

/*
 * What a console does in place of services of 1.0 that it meets during an update: they write no entries of the audit log, and show every
 * member the log and the URLs of receivers. The next minor release deletes this file.
 */

const WRITE_MS = 5_000;
/** Kinds of error after which the change may have been made. */
const UNKNOWN_OUTCOMES: ReadonlySet<string> = new Set(["unavailable", "timeout", "internal_error"]);

type Audit = Pick<RpcClient<AuditServiceService>, "appendAudit" | "finishAudit">;
type Method = (request: Readonly<Record<string, unknown>>, call: CallContext) => Promise<unknown>;
type Ending = PromiseSettledResult<unknown>;
type Definition = Parameters<typeof connectRpc>[0];

/** Wraps a client: after a change of a person that its service has not recorded, the entry is written here. */
export function recordingFor<Client extends object>(definition: Definition, client: Client, audit: Audit, log: Logger): Client {
  let wasRecorded = true;
  const wrapped = Object.entries(definition).flatMap(([name, { path }]): [string, Method][] => {
    const { entry: facts } = METHODS[path] ?? {};
    const change = client[name as keyof Client] as Method;
    if (facts === undefined) return [];
    const made: Method = async (request, call) => {
      const { person } = call;
      if (person === undefined) return change(request, call);
      let isRecorded: boolean | undefined;
      const onTrailers: CallContext["onTrailers"] = (trailers) => {
        if (trailers.get(RECORDED_TRAILER).length > 0) isRecorded = true;
        else if (trailers.get("error-kind").length > 0) isRecorded = false;
      };
      const [ending] = (await Promise.allSettled([change(request, { ...call, onTrailers })])) as [Ending];
      if (ending.status === "fulfilled") isRecorded ??= false;
      // A call without an answer is one of the release that the last answer came from.
      wasRecorded = isRecorded ?? wasRecorded;
      const entry = plannedEntry(facts, request, person, call.requestId);
      // Accounts of 1.0 itself writes that a link was made.
      if (!(isRecorded ?? wasRecorded) && entry.action !== "sign_in_link.create") {
        const failed = (err: unknown) => log.warn({ err, request_id: call.requestId, action: entry.action }, "audit entry not written");
        await write(audit, entry, subjectIn(facts.subject, ending), ending, call).catch(failed);
      }
      if (ending.status === "rejected") throw ending.reason;
      return ending.value;
    };
    return [[name, made]];
  });
  return { ...client, ...Object.fromEntries(wrapped) };
}

async function write(
  audit: Audit,
  { brand_id = "", subject_id, browser: _browser, ...entry }: PlannedEntry,
  created: string | null,
  ending: Ending,
  { requestId, traceparent, grants = {} }: CallContext,
): Promise<void> {
  // Even if the caller has disconnected.
  const call = { ...newCallContext(WRITE_MS, requestId), traceparent, grants };
  const announced = await audit.appendAudit({ ...entry, brand_id, subject_id: subject_id ?? null }, call);
  const entry_id = announced.entry?.id ?? "";
  await audit.finishAudit({ brand_id, entry_id, subject_id: created, ...outcomeOf(ending) }, call);
}

function outcomeOf(ending: Ending): { readonly outcome: string; readonly error_kind: string | null } {
  if (ending.status === "fulfilled") return { outcome: "done", error_kind: null };
  const { kind } = AppError.from(ending.reason);
  return { outcome: UNKNOWN_OUTCOMES.has(kind) && !isUnimplemented(ending.reason) ? "unknown" : "failed", error_kind: kind };
}

/** The id of what was created: `response.key.id` is the path of one. */
function subjectIn(path: string | undefined, ending: Ending): string | null {
  if (path?.startsWith("response.") !== true || ending.status === "rejected") return null;
  const at = path.split(".").slice(1);
  return at.reduce<unknown>((value, name) => (value as Record<string, unknown> | null)?.[name], ending.value) as string | null;
}

interface Acting {
  readonly call: CallContext;
  readonly person: { readonly email: string; readonly via: string | null; readonly limited_to: string | null };
  readonly brand: { readonly brand_id: string; readonly role: "owner" | "member" };
  client(): Client;
}

/** Gives calls the person whom their grants name. */
export function actingIn<Caller extends Acting>(caller: Caller): Caller {
  const { brand, call, client, person } = caller;
  const { address = null, browser = null } = client();
  const of = { email: person.email, via: person.via, limitedTo: person.limited_to, brand: { id: brand.brand_id, role: brand.role } };
  return { ...caller, call: { ...call, person: { ...of, client: { address, browser } } } };
}

/**
 * Removes from an output what only owners may see: path and query of a receiver's URL may be a token.
 *
 * @throws AppError `owner_required` for entries of the audit log
 */
export function forRole(role: string, output: unknown): unknown {
  if (role === "owner") return output;
  const { receiver, receivers, entries } = output as { receiver?: Receiver; receivers?: readonly Receiver[]; entries?: unknown };
  if (entries !== undefined) throw new AppError("owner_required", "Only owners of the brand can do this. Ask one of them.");
  for (const each of [receiver, ...(receivers ?? [])]) if (each?.url !== undefined) each.url = new URL(each.url).origin;
  return output;
}
