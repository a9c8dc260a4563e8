import { parseRequest } from "@brand-records/errors";
import { METHODS } from "@brand-records/proto/methods";
import type { CallContext, Handlers } from "@brand-records/rpc";
import type { WebhookDependencies } from "../dependencies.ts";
import { fields } from "./fields.ts";

type Method = (request: { readonly acting_member?: unknown }, call: CallContext) => Promise<unknown>;

/** What a method that needs an owner does, for the message of a refusal. */
const OWNERS_ONLY = "change receivers and replay deliveries";

const actingMember = { brand_id: fields.brandId, acting_member: fields.email };

/**
 * Wraps the handlers of a service: a method that acts for an owner, as its proto says, first asks accounts about the acting member of its
 * call. Nothing else is looked at before, so that a refusal tells nothing about the brand's receivers.
 */
export function requireOwners<Service extends Readonly<Record<keyof Service, { readonly path: string }>>>(
  definition: Service,
  handlers: Handlers<Service>,
  memberships: WebhookDependencies["memberships"],
): Handlers<Service> {
  const wrapped = Object.entries(handlers as Record<string, Method>).map(([name, method]): [string, Method] => {
    if (METHODS[definition[name as keyof Service].path]?.actor !== "owner") return [name, method];
    const guarded: Method = async (request, call) => {
      if (request.acting_member != null) {
        const { brand_id, acting_member } = parseRequest(actingMember, request);
        await memberships.requireOwner(brand_id, acting_member, OWNERS_ONLY, call);
      }
      return method(request, call);
    };
    return [name, guarded];
  });
  return Object.fromEntries(wrapped) as Handlers<Service>;
}
