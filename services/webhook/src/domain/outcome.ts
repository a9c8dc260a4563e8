/** What came of an attempt. Each class but `accepted` is a failure, and says where it failed. */
export const OUTCOMES = [
  /** 2xx. */
  "accepted",
  /** An answer with another status; redirects are not followed. */
  "refused",
  /** The name could not be resolved. */
  "dns",
  /** The name, or the URL itself, leads to an address that is not public. Nothing was sent. */
  "forbidden_address",
  /** No connection. */
  "connect",
  /** No TLS, or a certificate that is not to be trusted. */
  "tls",
  /** Not over within the deadline, wherever it hung. */
  "timeout",
  /** The connection ended before the answer did. */
  "closed",
  /** What came is no HTTP, or its headers have no end. */
  "protocol",
  /** It was not sent: what was to be sent is not there any more, or cannot be signed. */
  "unsendable",
  /** The process that made the attempt ended before it wrote down the result. */
  "unknown",
] as const;

export type OutcomeClass = (typeof OUTCOMES)[number];

export interface Outcome {
  readonly outcome: OutcomeClass;
  readonly httpStatus: number | null;
  /** For people; without path or query of the URL. */
  readonly error: string | null;
  /** What came of the answer's body, at most 16 KiB. */
  readonly response: Buffer | null;
  /** What a 429 or 503 asked for. */
  readonly retryAfterSeconds: number | null;
}
