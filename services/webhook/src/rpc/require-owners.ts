import { parseRequest } from "@brand-records/errors";
import type {
  DeliveriesServiceService,
  EventsServiceService,
  OperatorServiceService,
  ReceiversServiceService,
} from "@brand-records/proto/webhook/v1";
import type { CallContext, Handlers } from "@brand-records/rpc";
import type { WebhookDependencies } from "../dependencies.ts";
import { fields } from "./fields.ts";

/** `owner`: if the call names an acting member, that must be an owner of the brand. `caller`: the caller decides who may. */
type Needs = "owner" | "caller";

/** What every method needs. The one place that says so: a method without an entry does not compile. */
export const NEEDS = {
  receivers: {
    createReceiver: "owner",
    getReceiver: "caller",
    listReceivers: "caller",
    updateReceiver: "owner",
    enableReceiver: "owner",
    disableReceiver: "owner",
    deleteReceiver: "owner",
    rotateSecret: "owner",
    activateSecret: "owner",
    sendTest: "owner",
  } satisfies Record<keyof ReceiversServiceService, Needs>,
  deliveries: {
    listDeliveries: "caller",
    getDelivery: "caller",
    getDeliveryStats: "caller",
    replayDelivery: "owner",
    replayEvents: "owner",
    getReplay: "caller",
    countReplay: "caller",
    getLatestReplay: "caller",
    cancelReplay: "owner",
  } satisfies Record<keyof DeliveriesServiceService, Needs>,
  events: {
    getEvent: "caller",
    listEvents: "caller",
    listDeadLetters: "caller",
    replayDeadLetters: "caller",
  } satisfies Record<keyof EventsServiceService, Needs>,
  operator: {
    findBrand: "caller",
    deleteBrandData: "caller",
    removeDeadLetters: "caller",
    trimLog: "caller",
  } satisfies Record<keyof OperatorServiceService, Needs>,
} as const;

type Method = (request: { readonly acting_member?: unknown }, call: CallContext) => Promise<unknown>;

const actingMember = { brand_id: fields.brandId, acting_member: fields.email };

/**
 * Wraps the handlers of a service: a method that needs an owner first asks accounts about the acting member of its call. Nothing
 * else is looked at before, so that a refusal tells nothing about the brand's receivers.
 */
export function requireOwners<Service extends object>(
  needs: Readonly<Record<keyof Service & string, Needs>>,
  handlers: Handlers<Service>,
  owners: WebhookDependencies["owners"],
): Handlers<Service> {
  const wrapped = Object.entries(handlers as Record<string, Method>).map(([name, method]): [string, Method] => {
    if (needs[name as keyof Service & string] !== "owner") return [name, method];
    const guarded: Method = async (request, call) => {
      if (request.acting_member != null) {
        const { brand_id, acting_member } = parseRequest(actingMember, request);
        await owners.requireOwner(brand_id, acting_member, call);
      }
      return method(request, call);
    };
    return [name, guarded];
  });
  return Object.fromEntries(wrapped) as Handlers<Service>;
}
