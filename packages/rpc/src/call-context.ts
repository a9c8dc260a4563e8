import { randomUUID } from "node:crypto";
import { traceparentFrom } from "@brand-records/telemetry";
import type { Metadata, ServerUnaryCall } from "@grpc/grpc-js";

/** Whom a call acts for, as a grant has proved. */
export interface Person {
  readonly email: string;
  /** The owner whose link opened the session; null as `limitedTo` is. */
  readonly via: string | null;
  /** The one brand that the session opens; null: every brand of the person. */
  readonly limitedTo: string | null;
  /** The brand of the call, and what the person is in it; null for a call of none. */
  readonly brand: { readonly id: string; readonly role: "owner" | "member" } | null;
  /** From where the person calls. */
  readonly client: { readonly address: string | null; readonly browser: string | null };
}

/** What the call being served writes into the audit log if it makes its change. */
export interface PlannedEntry {
  readonly action: string;
  /** Undefined where the request names none: who makes the change knows it. */
  readonly brand_id: string | undefined;
  /** E-mail address; null: the operator. */
  readonly actor: string | null;
  /** The owner whose link opened the actor's session. */
  readonly via: string | null;
  /** Undefined where what is changed has no id before. */
  readonly subject_id: string | undefined;
  /** Names, never values. */
  readonly fields: string[];
  /** The role that a member gets. */
  readonly role: string | null;
  readonly request_id: string;
  /** IP address from which the person calls. */
  readonly address: string | null;
  /** The browser's family. */
  readonly browser: string | null;
}

const SANE = /^[A-Za-z0-9._:-]{1,128}$/;

const SECRETS = [
  // API keys, and the signing secrets of receivers.
  /brk_|whsec_/,
  // Signed and encrypted tokens of providers (JWT): base64url of `{"…`, and two or four dots.
  /eyJ[\w-]*\.[\w-]*\./,
  // Tokens of sessions and sign-in links have no prefix: base64url of 32 bytes, whose last character encodes four bits. Without capital or
  // small letters it is not random: callers' own ids of this length pass.
  /(?<![\w-])(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{42}[AEIMQUYcgkosw048](?![\w-])/,
];

/** Whether a text, which a client may have mistaken for another, must not be in a response, a log, a span or a row. */
export const holdsSecret = (text: string): boolean => SECRETS.some((secret) => secret.test(text));

/** Returns the id that a caller gives its request, if it is sane and holds no secret sent in the wrong header; otherwise a new one. */
export function requestIdFrom(given: unknown): string {
  const isSane = typeof given === "string" && SANE.test(given) && !holdsSecret(given);
  return isSane ? given : randomUUID();
}

/** The context of a unit of work, passed from the edge to the last statement. */
export interface CallContext {
  readonly requestId: string;
  /** W3C trace context. */
  readonly traceparent: string;
  /** Milliseconds since the epoch. Work on the call stops then. */
  readonly deadline: number;
  /** Aborted when the caller has gone. */
  readonly signal?: AbortSignal;
  /** Grants by the name of a service: a call of that service carries it. */
  readonly grants?: Readonly<Record<string, string>>;
  /** Whom the call being served acts for, as its grant has proved. */
  readonly person?: Person;
  /** What the call being served writes into the audit log, in the transaction of its change. */
  readonly entry?: PlannedEntry;
  /** Is given the trailers of calls made with this context. */
  readonly onTrailers?: (trailers: Metadata) => void;
  /** The call being served: its cancellation and deadline reach the calls made for it. */
  readonly parent?: ServerUnaryCall<unknown, unknown>;
}

/** Returns the context of work that no caller asked for: a new trace, ending after `withinMs`. */
export function newCallContext(withinMs: number, requestId: string = randomUUID()): CallContext {
  return { requestId, traceparent: traceparentFrom(undefined), deadline: Date.now() + withinMs };
}
