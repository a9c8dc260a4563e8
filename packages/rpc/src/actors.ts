import { AppError } from "@brand-records/errors";
import type { MethodFacts } from "@brand-records/proto/methods";
import type { Metadata } from "@grpc/grpc-js";
import type { CallContext, Person } from "./call-context.ts";
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
  prove(grant: string, need: { readonly brandId: string | undefined; readonly bySignature: boolean }, call: CallContext): Promise<Person>;
}

type Request = Readonly<Record<string, unknown>>;
type Handler = (request: Request, call: CallContext) => Promise<unknown>;

/** Whether a method acts for a person, whom a grant proves. */
export const actsForPerson = ({ actor }: Pick<MethodFacts, "actor">): boolean => actor !== "caller" && actor !== "bearer";

export const grantIn = (metadata: Metadata): string | undefined => metadata.get(GRANT_METADATA)[0]?.toString();

interface ActorOptions {
  readonly methods: Methods;
  /** Undefined in a service without methods that act for people. */
  readonly grants: Grants | undefined;
}

/**
 * Wraps a service's methods that act for a person: a call with a grant acts for the person whom the grant proves, whatever its request
 * says. A call without one has passed the guard: it is the operator's, or of a process that may act alone.
 */
export function withActors({ definition, handlers }: ServedService, options: ActorOptions): ServedService {
  const wrapped = Object.entries(handlers as Record<string, Handler>).map(([name, handler]): [string, Handler] => {
    const { path = "" } = definition[name] ?? {};
    const facts = options.methods[path];
    return [name, facts === undefined || !actsForPerson(facts) ? handler : actingFor(facts, handler, path, options)];
  });
  return { definition, handlers: Object.fromEntries(wrapped) };
}

function actingFor(facts: MethodFacts, handler: Handler, path: string, { grants }: ActorOptions): Handler {
  return async (request, call) => {
    const grant = call.parent === undefined ? undefined : grantIn(call.parent.metadata);
    if (grant === undefined) return handler(request, call);
    if (grants === undefined) throw new Error(`nothing here proves grants, which ${path} needs`);
    const brandId = facts.actor === "person" ? undefined : String(request["brand_id"]);
    const person = await grants.prove(grant, { brandId, bySignature: facts.bySignature === true }, call);
    if (facts.actor === "owner") requireOwner(person);
    return handler({ ...request, ...namedIn(request, person, facts) }, { ...call, person });
  };
}

function requireOwner({ email, brand }: Person): void {
  if (brand?.role === "owner") return;
  throw new AppError("owner_required", `${email} is not an owner of this brand; only owners can do this`);
}

/** What a request says of who acts: never what its sender says. */
const namedIn = (request: Request, { email, via }: Person, { actorField }: MethodFacts): Request => ({
  ...(actorField !== undefined && { [actorField]: email }),
  ...("via" in request && { via }),
});
