/** Kinds of outcomes of an attempt. Every kind but `accepted` is a failure and names where it failed. */
export const OUTCOME_KINDS = [
  /** 2xx. */
  "accepted",
  /** A response with another status; redirects are not followed. */
  "refused",
  /** The name could not be resolved. */
  "dns",
  /** The name, or the URL itself, leads to an address that is not public. Nothing was sent. */
  "forbidden_address",
  /** The operator's egress proxy opened no connection: it is away, wants credentials, or forbids the target. Nothing was sent. */
  "proxy_refused",
  /** No connection. */
  "connect",
  /** No TLS, or a certificate that is not trusted. */
  "tls",
  /** The attempt did not finish within the deadline, wherever it hung. */
  "timeout",
  /** The connection ended before the response did. */
  "closed",
  /** The response is not HTTP, or its headers do not end. */
  "protocol",
  /** Nothing was sent, because it cannot be signed. */
  "unsendable",
  /** The process that made the attempt ended before it wrote the result. */
  "unknown",
] as const;

export type OutcomeKind = (typeof OUTCOME_KINDS)[number];

/** Whether an attempt sent a request as far as it came: the others have no duration and no headers to show. */
export const hasSent = (outcome: string): boolean => outcome !== "unsendable";

export const hasDuration = (outcome: string): boolean => hasSent(outcome) && outcome !== "unknown";

export interface Outcome {
  readonly kind: OutcomeKind;
  readonly httpStatus: number | null;
  /** Text for people. Has no path and query of the URL. */
  readonly error: string | null;
  /** The first 16 KiB of the response's body. */
  readonly response: Buffer | null;
  readonly retryAfterSeconds: number | null;
}
