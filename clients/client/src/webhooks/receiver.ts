import type { BrandEvent, EventType } from "../generated/api.ts";
import { DeliveryError } from "./delivery-error.ts";
import type { UnknownEvent } from "./events.ts";
import { readSecrets, type Secrets } from "./secrets.ts";
import { verifyDelivery, type DeliveryHeaders, type VerifyOptions } from "./verify-delivery.ts";

/** Deliveries have at most 20 KiB. */
export const BODY_BYTES_MAX = 64 * 1024;

/** The events of some types; every event if the types are not given. */
export type EventOf<Type extends string> = string extends Type ? BrandEvent | UnknownEvent : Extract<BrandEvent, { type: Type }>;

/** @template Context what the framework gives a handler */
export interface ReceiverOptions<Type extends string, Context extends readonly unknown[]> extends Omit<VerifyOptions, "now"> {
  /** The receiver's signing secret, or several during a rotation. A function is asked for every delivery. */
  readonly secrets: Secrets | ((...context: Context) => Secrets | Promise<Secrets>);
  /** The types that the receiver selects; others get 422. Default: every type, also those of later versions. */
  readonly types?: readonly (Type & EventType)[] | undefined;
}

/**
 * Stores a verified event. The service gets 204 when it resolves, which must be within 15 seconds: process the event afterwards. It
 * may get an event again: store each `event.id` once. If it rejects, the framework responds, under node:http alone the adapter with 500, and
 * the service sends the event again.
 */
export type EventHandler<Type extends string, Context extends readonly unknown[]> = (
  event: EventOf<Type>,
  ...context: Context
) => void | Promise<void>;

/** What to respond. The text helps the people who see the attempt. */
export interface Outcome {
  readonly status: 204 | 400 | 401 | 405 | 413 | 422;
  readonly text?: string;
}

export const NOT_POST: Outcome = { status: 405, text: "deliveries are POST requests" };
export const TOO_LARGE: Outcome = { status: 413, text: `a delivery has at most ${BODY_BYTES_MAX} bytes` };

/** Why the body of a request cannot be read. A mistake of the program, not of the delivery. */
export const READ_BEFORE = "the body was read before: this handler must come before anything that parses it, such as express.json()";

/** Refuses a program's start rather than every delivery. @throws TypeError if a secret is none */
export function requireSecrets({ secrets }: { readonly secrets: unknown }): void {
  if (typeof secrets !== "function") readSecrets(secrets as Secrets);
}

/** The chunks of a body, up to BODY_BYTES_MAX. */
export class BodyBytes {
  #bytes = new Uint8Array(4_096);
  #length = 0;

  /** Returns false if they are too many. */
  add(chunk: Uint8Array): boolean {
    const length = this.#length + chunk.length;
    if (length > BODY_BYTES_MAX) return false;
    if (length > this.#bytes.length) {
      const before = this.#bytes;
      // Doubled: a body may come byte by byte.
      this.#bytes = new Uint8Array(Math.max(length, 2 * before.length));
      this.#bytes.set(before);
    }
    this.#bytes.set(chunk, this.#length);
    this.#length = length;
    return true;
  }

  get all(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }
}

/**
 * Verifies a delivery, and has it handled.
 *
 * @throws what the handler throws, and TypeError if a secret is none
 */
export async function receive<Type extends string, Context extends readonly unknown[]>(
  body: string | Uint8Array,
  headers: DeliveryHeaders,
  { secrets, types, ...options }: ReceiverOptions<Type, Context>,
  handle: EventHandler<Type, Context>,
  context: Context,
): Promise<Outcome> {
  if (body.length > BODY_BYTES_MAX) return TOO_LARGE;
  let event: BrandEvent | UnknownEvent;
  try {
    event = await verifyDelivery(body, headers, typeof secrets === "function" ? await secrets(...context) : secrets, options);
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error;
    return { status: 401, text: `not verified: ${error.message}` };
  }
  if (types !== undefined && !(types as readonly string[]).includes(event.type)) {
    return { status: 422, text: "this receiver is not configured for events of this type" };
  }
  await handle(event as EventOf<Type>, ...context);
  return { status: 204 };
}

/** Headers of a response. A connection whose request was not read to its end cannot be used again. */
export const responseHeaders = ({ status, text }: Outcome): Record<string, string> => ({
  ...(text !== undefined && { "Content-Type": "text/plain; charset=utf-8" }),
  ...(status === 405 && { Allow: "POST" }),
  ...((status === 405 || status === 413) && { Connection: "close" }),
});
