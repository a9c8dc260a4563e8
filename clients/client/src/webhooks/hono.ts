import { receiveRequest, toResponse } from "./fetch.ts";
import { requireSecrets, type EventHandler, type ReceiverOptions } from "./receiver.ts";

export type { EventHandler, EventOf, ReceiverOptions } from "./receiver.ts";

/** What a handler of Hono gets, as far as it is used here. */
export interface HonoContext {
  readonly req: { readonly raw: Request };
  /** The program's own bindings, which only it knows. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly env: any;
}

/**
 * Returns a handler for Hono. It reads the raw body itself.
 *
 *     app.post("/hooks", receiveEvents({ secrets: (c) => c.env.WEBHOOK_SECRET, types: ["payout.paid"] }, async (event, c) => { … }));
 */
export function receiveEvents<const Type extends string = string, Context extends HonoContext = HonoContext>(
  options: ReceiverOptions<Type, readonly [Context]>,
  handle: EventHandler<Type, readonly [Context]>,
): (context: Context) => Promise<Response> {
  requireSecrets(options);
  return async (context) => toResponse(await receiveRequest(context.req.raw, options, handle, [context]));
}
