import { printable, shortened } from "@brand-records/command-line";
import type { FailedReason, Reply } from "./post-delivery.ts";

const FAILED: Readonly<Record<FailedReason, string>> = {
  dns: "the name could not be resolved",
  connect: "no connection",
  tls: "no TLS, or its certificate is not trusted",
  closed: "the connection ended before the response did",
  protocol: "the response is not HTTP",
};

/** What to do, by the reason and by the status: the table of docs/webhooks.md. */
const ADVICE: Readonly<Record<string, string>> = {
  dns: "Check the name in the URL.",
  connect: "Start the receiver, and check host and port of the URL.",
  tls: "Check the certificate and its chain. For one of your own: NODE_EXTRA_CA_CERTS=ca.pem before the command.",
  closed: "Read the receiver's log: did it crash, or did a proxy before it give up?",
  protocol: "Check that a web server listens on that port.",
  "101": "Give the URL of a server that takes POST requests: this one speaks another protocol, such as WebSocket.",
  "3xx": "Give the final URL: redirects are not followed. Register that one: the right host, the slash.",
  "401": "Check the secret: whole, and of this receiver. Verify the raw body, and check the receiver's clock.",
  "403": "Exempt the path from login, WAF and bot check. Check the secret: whole, and of this receiver; and the brand: --brand.",
  "404": "Nothing accepts a POST there: check the path and the deployment.",
  "405": "Nothing accepts a POST there: check the path and the deployment.",
  "410": "410 disables the receiver: respond with it only if the URL is to get no more events.",
  "413": "Let your server take 64 KiB.",
  "422": "Send a type that the receiver is configured for, or configure it for this one. If it checks the brand: --brand.",
  "429": "A limiter responds. Exempt the sender, or raise the limit.",
  "502": "A proxy responds for a receiver that does not: start it, and read its log.",
  "503": "A limiter, a proxy or a server that is not ready responds: wait, or exempt the sender.",
  "504": "A proxy responds for a receiver that is too slow, or not there.",
  "5xx": "The receiver failed: read its log.",
  slow: "Respond first, process afterwards; end the response.",
};

export const isAccepted = (reply: Reply): boolean => reply.kind === "response" && reply.status >= 200 && reply.status < 300;

/** Whether a limiter responded: it says so with the status, or with a time to wait. */
export const isLimited = (reply: Reply): boolean =>
  reply.kind === "response" && !isAccepted(reply) && (reply.status === 429 || reply.retryAfter !== undefined);

/** Whether a proxy responded, or a server that is not ready. */
export const isNotReady = (reply: Reply): boolean => reply.kind === "response" && [502, 503, 504].includes(reply.status);

/** Whether it says nothing of the delivery: no connection, or the response of a limiter, a proxy, or a server that is not ready. */
export const isUnrelated = (reply: Reply): boolean =>
  reply.kind === "failed" ? ["dns", "connect", "tls"].includes(reply.reason) : isLimited(reply) || isNotReady(reply);

/** `accepted`, `refused`, `slow`, or why no response came, as in docs/webhooks.md. */
export function outcomeOf(reply: Reply): string {
  if (reply.kind === "failed") return reply.reason;
  if (reply.kind === "slow") return "slow";
  return isAccepted(reply) ? "accepted" : "refused";
}

/** `accepted (204, 12 ms)`, `refused (401, 8 ms)`, `slow (no whole response within 15 s)`, `no connection (ECONNREFUSED)`. */
export function replyText(reply: Reply): string {
  if (reply.kind === "failed") return `${FAILED[reply.reason]} (${reply.code})`;
  if (reply.kind === "slow") return `slow (no whole response within ${seconds(reply.milliseconds)} s)`;
  const wait = reply.retryAfter === undefined ? "" : `, Retry-After: ${shortened(printable(reply.retryAfter), 30)}`;
  return `${isAccepted(reply) ? "accepted" : "refused"} (${reply.status}, ${reply.milliseconds} ms${wait})`;
}

const seconds = (milliseconds: number): string => String(Math.round(milliseconds / 100) / 10);

/** Returns what to do about a delivery that should have been accepted. */
export function adviceFor(reply: Reply): string {
  if (reply.kind === "failed") return ADVICE[reply.reason] ?? "";
  if (reply.kind === "slow") return ADVICE["slow"] ?? "";
  const status = isLimited(reply) && reply.status !== 503 ? 429 : reply.status;
  return ADVICE[status] ?? ADVICE[`${Math.floor(reply.status / 100)}xx`] ?? "Respond with 2xx.";
}
