import { types } from "node:util";
import type { Dispatcher } from "undici";
import type { Outcome, OutcomeClass } from "../domain/outcome.ts";
import { readRetryAfter } from "../domain/retry-schedule.ts";
import { UnresolvedNameError, type ReceiverAgent } from "./receiver-agent.ts";

/** What is kept of an answer; it is judged by its status, however long it is. */
export const RESPONSE_BYTES_MAX = 16 * 1024;

export interface Request {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** For everything: name, connection, TLS, request, answer. */
  readonly deadlineMs: number;
}

/** One attempt, and what came of it. Never rejects. */
export async function attemptPost(agent: ReceiverAgent, { url, headers, body, deadlineMs }: Request): Promise<Outcome> {
  const deadline = AbortSignal.timeout(deadlineMs);
  let answer: Dispatcher.ResponseData | undefined;
  try {
    const target = new URL(url);
    agent.requireAllowed(target);
    const asking = agent.request({
      origin: target.origin,
      path: `${target.pathname}${target.search}`,
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body,
      signal: deadline,
    });
    answer = await orAborted(asking, deadline);
    const response = await readPrefix(answer.body);
    const { statusCode } = answer;
    const accepted = statusCode >= 200 && statusCode < 300;
    return {
      outcome: accepted ? "accepted" : "refused",
      httpStatus: statusCode,
      error: accepted ? null : `answered ${statusCode}`,
      response,
      retryAfterSeconds: retryAfterOf(answer),
    };
  } catch (error) {
    const failure = deadline.aborted ? TIMED_OUT(deadlineMs) : failureOf(error);
    return { ...failure, httpStatus: answer?.statusCode ?? null, response: null, retryAfterSeconds: null };
  }
}

/** undici hears of an abort once it is connected: what is still connecting then would be waited for. It is not sent any more. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const over = Promise.withResolvers<never>();
  const abort = (): void => over.reject(signal.reason as Error);
  signal.addEventListener("abort", abort);
  work.catch(() => {});
  try {
    return await Promise.race([work, over.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** The rest is not waited for: the connection ends with it. */
async function readPrefix(body: Dispatcher.ResponseData["body"]): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    // Leaving the loop destroys the stream.
    if (bytes > RESPONSE_BYTES_MAX) break;
  }
  return Buffer.concat(chunks).subarray(0, RESPONSE_BYTES_MAX);
}

function retryAfterOf({ statusCode, headers }: Dispatcher.ResponseData): number | null {
  if (statusCode !== 429 && statusCode !== 503) return null;
  const header = headers["retry-after"];
  return readRetryAfter(Array.isArray(header) ? header[0] : header, Date.now());
}

type Failure = Pick<Outcome, "outcome" | "error">;

const TIMED_OUT = (deadlineMs: number): Failure => ({ outcome: "timeout", error: `not over within ${deadlineMs / 1_000} s` });

const CLASSES: readonly (readonly [RegExp, OutcomeClass, string])[] = [
  [/^FORBIDDEN_ADDRESS$/, "forbidden_address", "leads to an address that is not public; nothing was sent"],
  [
    /^(ENOTFOUND|ENODATA|ESERVFAIL|EREFUSED|EBADNAME|ETIMEOUT|ECONNREFUSED_DNS|ECANCELLED|EDNS.*|EAI_.*)$/,
    "dns",
    "the name could not be resolved",
  ],
  [/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|EACCES|EPERM)$/, "connect", "no connection"],
  [
    /^(CERT_|ERR_TLS|ERR_SSL|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/,
    "tls",
    "no TLS, or its certificate is not to be trusted",
  ],
  [
    /^(HPE_|HTTPParserError|ERR_ASSERTION|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_)/,
    "protocol",
    "what came is no HTTP answer, or its headers are too large",
  ],
  [
    /^(ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_CLOSED|UND_ERR_DESTROYED|UND_ERR_ABORTED)$/,
    "closed",
    "the connection ended before the answer did",
  ],
];

/** By code alone: messages may repeat the URL. */
function failureOf(error: unknown): Failure {
  const code = codeOf(error);
  for (const [pattern, outcome, text] of CLASSES) {
    if (pattern.test(code)) return { outcome, error: outcome === "forbidden_address" ? text : `${text} (${code})` };
  }
  return { outcome: "connect", error: `no connection (${code})` };
}

function codeOf(error: unknown): string {
  if (!types.isNativeError(error)) return "unknown";
  if (error instanceof UnresolvedNameError) return `EDNS_${error.code}`;
  // Of several addresses that were tried, the first tells as much as any.
  if ("errors" in error && Array.isArray(error.errors)) return codeOf(error.errors[0]);
  if ("code" in error && typeof error.code === "string") return error.code;
  return error.cause === undefined ? error.name : codeOf(error.cause);
}
