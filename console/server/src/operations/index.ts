import { OPERATIONS, type OperationName, type Output } from "@brand-records/console-contract";
import { parseRequest } from "@brand-records/errors";
import type { Services } from "../services.ts";
import { forRole } from "../services-of-1-0.ts";
import { COMPOSED } from "./composed.ts";
import { type Handlers, type InBrand, to, type Visitor } from "./operation.ts";
import { SIGN_IN } from "./sign-in.ts";

const PAGE = { page_size: 50 };

/** What implements each operation of the contract. */
const HANDLERS: Handlers = {
  ...SIGN_IN,
  ...COMPOSED,
  "keys.list": to("accounts", "listKeys", { ids: [] }),
  "keys.revoke": to("accounts", "revokeKey", { revoked_by: "" }),
  "receivers.list": to("receivers", "listReceivers"),
  "receivers.get": to("receivers", "getReceiver"),
  "receivers.create": to("receivers", "createReceiver"),
  "receivers.update": to("receivers", "updateReceiver", { events: [] }),
  "receivers.disable": to("receivers", "disableReceiver"),
  "receivers.delete": to("receivers", "deleteReceiver"),
  "receivers.rotate": to("receivers", "rotateSecret"),
  "receivers.activate": to("receivers", "activateSecret"),
  "receivers.send_waiting": to("receivers", "sendWaiting"),
  "receivers.test": to("receivers", "sendTest"),
  "deliveries.list": to("deliveries", "listDeliveries", { ...PAGE, states: [] }),
  "deliveries.stats": to("deliveries", "getDeliveryStats"),
  "deliveries.replay": to("deliveries", "replayDelivery"),
  "replays.count": to("deliveries", "countReplay"),
  "replays.start": to("deliveries", "replayEvents"),
  "replays.latest": to("deliveries", "getLatestReplay"),
  "replays.cancel": to("deliveries", "cancelReplay"),
  "events.list": to("events", "listEvents", { ...PAGE, count_receivers: true }),
  "members.list": to("accounts", "listMembers"),
  "members.add": to("accounts", "addMember", { only_new: true }),
  "members.set_role": to("accounts", "setMemberRole"),
  "members.remove": to("accounts", "removeMember"),
  "plans.list": to("plans", "listPlanSummaries", { ...PAGE, acting_member: "" }),
};

/** Whether a call may guess the token of a sign-in link. Such calls of an address are few. */
export const usesLink = (name: OperationName): boolean => "token" in OPERATIONS[name].input.shape;

/**
 * Serves a call of an operation.
 *
 * @param caller has what the operation needs
 * @param body of any shape
 * @throws AppError `invalid_request` with every problem of the body
 */
export async function serve<Name extends OperationName>(
  name: Name,
  services: Services,
  caller: Visitor | InBrand,
  body: unknown,
): Promise<Output<Name>> {
  const input = parseRequest(OPERATIONS[name].input, body ?? {});
  // The compiler relates a name that it does not know neither to its handler nor to the types of its input and output.
  const handler = HANDLERS[name] as (services: Services, caller: never, input: never) => Promise<unknown>;
  const output = await handler(services, caller as never, input as never);
  return ("brand" in caller ? forRole(caller.brand.role, output) : output) as Output<Name>;
}
