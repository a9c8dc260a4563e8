/** How an attempt to deliver ended, as the webhook service names it. A later release may have others. */
export const ATTEMPT_OUTCOMES = [
  "accepted",
  "refused",
  "dns",
  "forbidden_address",
  "proxy_refused",
  "connect",
  "tls",
  "timeout",
  "closed",
  "protocol",
  "unsendable",
  "unknown",
] as const;

export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];
