import { AppError, ERROR_KINDS } from "@brand-records/errors";
import type { MethodFacts } from "@brand-records/proto/methods";
import type { Logger } from "@brand-records/telemetry";
import type { Metadata } from "@grpc/grpc-js";
import { plannedEntry } from "./audit-entries.ts";
import type { CallContext, Person, PlannedEntry } from "./call-context.ts";
import type { ServedService } from "./handlers.ts";
import type { Methods } from "./methods.ts";

/** The metadata that carries a grant. It is never logged, traced or passed on. */
export const GRANT_METADATA = "x-grant";

/** Proves grants for a service. */
export interface Grants {
  /**
   * Returns the person of a grant.
   *
   * @param brandId of the call: the person must be a member of it; undefined for a call of no brand
   * @throws AppError `invalid_session`, `timeout`, `unavailable`; `not_found` unless the person is a member of the brand
   */
  prove(grant: string, brandId: string | undefined, call: CallContext): Promise<Person>;
}

type Request = Readonly<Record<string, unknown>>;
type Handler = (request: Request, call: CallContext) => Promise<unknown>;

/** Whether a method acts for a person, whom a grant proves. */
export const actsForPerson = ({ actor }: Pick<MethodFacts, "actor">): boolean => actor !== "caller" && actor !== "bearer";

export const grantIn = (metadata: Metadata): string | undefined => metadata.get(GRANT_METADATA)[0]?.toString();

/** Where a service's part of the audit log goes. */
export interface AuditSink {
  /** Writes that a person's change was refused, in a transaction of its own. */
  refused(entry: PlannedEntry, refusal: AppError): Promise<void>;
  /** Called after each change that may have written an entry. */
  changed(): void;
}

interface ActorOptions {
  readonly methods: Methods;
  /** Undefined in a service without methods that act for people. */
  readonly grants: Grants | undefined;
  /** Undefined in a service whose methods change nothing for people. */
  readonly audit: AuditSink | undefined;
  readonly log: Logger;
}

/**
 * Wraps a service's methods: a call with a grant of one that acts for a person acts for the person whom the grant proves, whatever its
 * request says. A call without one has passed the guard: it is the operator's, or of a process that may act alone. Those that change
 * something get the entry of the audit log that they write with it.
 */
export function withActors({ definition, handlers }: ServedService, options: ActorOptions): ServedService {
  const wrapped = Object.entries(handlers as Record<string, Handler>).map(([name, handler]): [string, Handler] => {
    const { path = "" } = definition[name] ?? {};
    const facts = options.methods[path];
    const isPlain = facts === undefined || (!actsForPerson(facts) && facts.entry === undefined);
    return [name, isPlain ? handler : acting(facts, handler, path, options)];
  });
  return { definition, handlers: Object.fromEntries(wrapped) };
}

function acting(facts: MethodFacts, handler: Handler, path: string, { grants, audit, log }: ActorOptions): Handler {
  return async (sent, call) => {
    const person = await personOf(sent, call, facts, path, grants);
    const request = person === undefined ? sent : { ...sent, ...namedIn(sent, person, facts) };
    const entry = facts.entry && plannedEntry(facts.entry, request, person, call.requestId);
    try {
      if (person !== undefined && facts.actor === "owner") requireOwner(person);
      const response = await handler(request, { ...call, ...(person && { person }), ...(entry && { entry }) });
      if (entry !== undefined) audit?.changed();
      return response;
    } catch (error) {
      const isRefused = person?.brand != null && entry !== undefined && error instanceof AppError && isRefusal(error);
      if (isRefused)
        await audit?.refused(entry, error).catch((err: unknown) => log.warn({ err, action: entry.action }, "refusal not recorded"));
      throw error;
    }
  };
}

/** Returns whom the call's grant proves; undefined without a grant. */
async function personOf(request: Request, call: CallContext, facts: MethodFacts, path: string, grants: Grants | undefined) {
  const grant = !actsForPerson(facts) || call.parent === undefined ? undefined : grantIn(call.parent.metadata);
  if (grant === undefined) return undefined;
  if (grants === undefined) throw new Error(`nothing here proves grants, which ${path} needs`);
  const brandId = facts.actor === "person" ? undefined : String(request["brand_id"]);
  return grants.prove(grant, brandId, call);
}

/** Whether a change was refused for what the person is, or the state of the brand: not for how the request was written. */
const isRefusal = ({ kind }: AppError): boolean => [403, 409].includes(ERROR_KINDS[kind].http);

function requireOwner({ brand }: Person): void {
  if (brand?.role === "owner") return;
  throw new AppError("owner_required", "Only owners of the brand can do this. Ask one of them.");
}

/** What a request says of who acts: never what its sender says. */
const namedIn = (request: Request, { email, via }: Person, { actorField }: MethodFacts): Request => ({
  ...(actorField !== undefined && { [actorField]: email }),
  ...("via" in request && { via }),
});
