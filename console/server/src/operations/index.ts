import { OPERATIONS, type OperationName, type Output, type ParsedInput } from "@brand-records/console-contract";
import { parseRequest } from "@brand-records/errors";
import { runAudited, type AuditDependencies } from "../audit.ts";
import { DELIVERIES } from "./deliveries.ts";
import { EVENTS } from "./events.ts";
import { KEYS } from "./keys.ts";
import { MEMBERS } from "./members.ts";
import type { Handler, Handlers, InBrand, Visitor } from "./operation.ts";
import { OVERSIGHT } from "./oversight.ts";
import { PLANS } from "./plans.ts";
import { RECEIVERS } from "./receivers.ts";
import { REPLAYS } from "./replays.ts";
import { SESSION } from "./session.ts";

/** What implements each operation of the contract. */
const HANDLERS: Handlers<string> = {
  ...SESSION,
  ...OVERSIGHT,
  ...KEYS,
  ...RECEIVERS,
  ...DELIVERIES,
  ...REPLAYS,
  ...EVENTS,
  ...MEMBERS,
  ...PLANS,
};

export const usesLink = (name: OperationName): boolean => HANDLERS[name].usesLink === true;

/**
 * Serves a call of an operation.
 *
 * @param caller has what the operation needs
 * @param body of any shape
 * @throws AppError `invalid_request` with every problem of the body
 */
export async function serve<Name extends OperationName>(
  name: Name,
  deps: AuditDependencies,
  caller: Visitor | InBrand,
  body: unknown,
): Promise<Output<Name>> {
  // The compiler relates a name that it does not know neither to its handler nor to the types of its schemas.
  const handler = HANDLERS[name] as unknown as Handler<Name>;
  const input = parseRequest(OPERATIONS[name].input, body ?? {}) as ParsedInput<Name>;
  const run = async (): Promise<Output<Name>> =>
    OPERATIONS[name].output.parse(await handler.run(deps.services, caller as never, input)) as Output<Name>;
  return "brand" in caller ? runAudited(deps, handler.audit, caller, input, run) : run();
}
