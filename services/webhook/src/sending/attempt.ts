import { types } from "node:util";
import type { Clock } from "@brand-records/lifecycle";
import type { Outcome, OutcomeKind } from "../domain/outcome.ts";
import { readRetryAfter } from "../domain/retry-schedule.ts";
import { UnresolvedNameError } from "./public-addresses.ts";
import type { ReceiverAgent } from "./receiver-agent.ts";
import { DeadlinePassed, type WholeReply } from "./reply.ts";

export interface Request {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Time for everything: name resolution, connection, TLS, request and response. */
  readonly deadlineMs: number;
}

/** Makes one attempt and returns its outcome. Never rejects. */
export async function attemptPost(
  agent: ReceiverAgent,
  { url, headers, body, deadlineMs }: Request,
  clock: Clock = Date,
): Promise<Outcome> {
  let statusCode: number | null = null;
  try {
    const target = new URL(url);
    agent.requireAllowed(target);
    const request = {
      origin: target.origin,
      path: `${target.pathname}${target.search}`,
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body,
    } as const;
    const reply = await agent.send(request, deadlineMs);
    statusCode = reply.statusCode;
    if ("error" in reply) throw reply.error;
    return outcomeOf(reply, clock.now());
  } catch (error) {
    const failure = error instanceof DeadlinePassed ? timedOut(deadlineMs) : failureOf(error);
    return { ...failure, httpStatus: statusCode, response: null, retryAfterSeconds: null };
  }
}

function outcomeOf(reply: WholeReply, now: number): Outcome {
  const { statusCode, prefix } = reply;
  const accepted = statusCode >= 200 && statusCode < 300;
  return {
    kind: accepted ? "accepted" : "refused",
    httpStatus: statusCode,
    error: accepted ? null : `responded with ${statusCode}`,
    response: prefix,
    retryAfterSeconds: retryAfterOf(reply, now),
  };
}

function retryAfterOf({ statusCode, headers }: WholeReply, now: number): number | null {
  if (statusCode !== 429 && statusCode !== 503) return null;
  const header = headers["retry-after"];
  return readRetryAfter(Array.isArray(header) ? header[0] : header, now);
}

type Failure = Pick<Outcome, "kind" | "error">;

const timedOut = (deadlineMs: number): Failure => ({ kind: "timeout", error: `not complete within ${deadlineMs / 1_000} s` });

const KINDS: readonly (readonly [RegExp, OutcomeKind, string])[] = [
  [/^FORBIDDEN_ADDRESS$/, "forbidden_address", "leads to an address that is not public; nothing was sent"],
  [/^PROXY_TARGET_/, "connect", "no connection through the egress proxy"],
  [/^PROXY_/, "proxy_refused", "the egress proxy opened no connection; nothing was sent"],
  [
    /^(ENOTFOUND|ENODATA|ESERVFAIL|EREFUSED|EBADNAME|ETIMEOUT|ECONNREFUSED_DNS|ECANCELLED|EDNS.*|EAI_.*)$/,
    "dns",
    "the name could not be resolved",
  ],
  [/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|EACCES|EPERM)$/, "connect", "no connection"],
  [
    /^(CERT_|ERR_TLS|ERR_SSL|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/,
    "tls",
    "no TLS, or its certificate is not trusted",
  ],
  [
    /^(HPE_|HTTPParserError|ERR_ASSERTION|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_)/,
    "protocol",
    "the response is not HTTP, or its headers are too large",
  ],
  [
    /^(ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_CLOSED|UND_ERR_DESTROYED|UND_ERR_ABORTED)$/,
    "closed",
    "the connection ended before the response did",
  ],
];

/** Classifies by code alone: messages may repeat the URL. */
function failureOf(error: unknown): Failure {
  const code = codeOf(error);
  for (const [pattern, kind, text] of KINDS) {
    if (pattern.test(code)) return { kind, error: kind === "forbidden_address" ? text : `${text} (${code})` };
  }
  return { kind: "connect", error: `no connection (${code})` };
}

function codeOf(error: unknown): string {
  if (!types.isNativeError(error)) return "unknown";
  if (error instanceof UnresolvedNameError) return `EDNS_${error.code}`;
  // Several addresses failed: the first error represents them.
  if ("errors" in error && Array.isArray(error.errors)) return codeOf(error.errors[0]);
  if ("code" in error && typeof error.code === "string") return error.code;
  return error.cause === undefined ? error.name : codeOf(error.cause);
}
