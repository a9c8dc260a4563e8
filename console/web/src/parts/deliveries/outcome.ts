import type { AttemptOutcome } from "@brand-records/console-contract";

/** What an attempt's outcome means to the receiver's owner. */
const OUTCOMES: Readonly<Record<AttemptOutcome, string>> = {
  accepted: "Accepted",
  refused: "Refused",
  dns: "The host’s name could not be resolved",
  forbidden_address: "The host’s address is not public",
  proxy_refused: "Our proxy did not connect; not the receiver’s fault",
  connect: "No connection",
  tls: "TLS failed",
  timeout: "No complete response in time",
  closed: "The connection closed before a response",
  protocol: "The response was not valid HTTP",
  unsendable: "It could not be signed or sent",
  unknown: "Unknown: the sending process ended",
};

const isKnown = (outcome: string): outcome is AttemptOutcome => Object.hasOwn(OUTCOMES, outcome);

/** An outcome in words, with the status if a response came. */
export function outcomeText(outcome: string, httpStatus: number | null): string {
  if (httpStatus !== null && (outcome === "accepted" || outcome === "refused")) return `HTTP ${httpStatus}`;
  return isKnown(outcome) ? OUTCOMES[outcome] : outcome;
}
