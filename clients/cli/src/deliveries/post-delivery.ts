import { request as requestHttp, type ClientRequest, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";

/** Seconds that the service waits for a whole response. */
export const RESPONSE_SECONDS_MAX = 15;
/** As the service: it reads no more of a response than this. */
const RESPONSE_BYTES_MAX = 16 * 1024;

export interface Delivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** What became of a delivery. Times are in milliseconds. */
export type Reply =
  | { readonly kind: "response"; readonly status: number; readonly location: string | undefined; readonly milliseconds: number }
  /** No whole response in time. */
  | { readonly kind: "slow"; readonly milliseconds: number }
  /** No response: `code` is the system's, such as ECONNREFUSED. */
  | { readonly kind: "failed"; readonly reason: FailedReason; readonly code: string; readonly milliseconds: number };

export type FailedReason = "dns" | "connect" | "tls" | "closed" | "protocol";

export interface PostOptions {
  /** Time for everything: name resolution, connection, TLS, request and response. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Posts a delivery to the URL and nowhere else: no redirect is followed. Each has a connection of its own.
 *
 * @throws the signal's reason
 */
export async function postDelivery(to: URL, { headers, body }: Delivery, { timeoutMs, signal }: PostOptions): Promise<Reply> {
  signal.throwIfAborted();
  const startedAt = performance.now();
  const elapsed = (): number => Math.round(performance.now() - startedAt);
  const send = to.protocol === "https:" ? requestHttps : requestHttp;
  const request = send(to, { method: "POST", headers: { ...headers, "Content-Length": body.length }, agent: false });
  let isLate = false;
  const stop = (): void => void request.destroy(new Error("stopped"));
  const timer = setTimeout(() => {
    isLate = true;
    stop();
  }, timeoutMs);
  signal.addEventListener("abort", stop);
  try {
    const response = await responseTo(request, body);
    await readPrefix(response);
    const { statusCode = 0, headers: received } = response;
    return { kind: "response", status: statusCode, location: received.location, milliseconds: elapsed() };
  } catch (error) {
    signal.throwIfAborted();
    // A response that had begun fails as if the receiver had closed it.
    if (isLate) return { kind: "slow", milliseconds: elapsed() };
    const code = codeOf(error);
    return { kind: "failed", reason: reasonOf(code), code, milliseconds: elapsed() };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    request.destroy();
  }
}

function responseTo(request: ClientRequest, body: Buffer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once("response", resolve);
    // Stays: a request that is destroyed after its response emits another.
    request.on("error", reject);
    request.end(body);
  });
}

async function readPrefix(response: IncomingMessage): Promise<void> {
  let bytes = 0;
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length;
    if (bytes > RESPONSE_BYTES_MAX) return;
  }
}

/** @returns the system's code; that of the first address if several failed */
function codeOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return "unknown";
  if ("errors" in error && Array.isArray(error.errors)) return codeOf(error.errors[0]);
  return "code" in error && typeof error.code === "string" ? error.code : "unknown";
}

const REASONS: readonly (readonly [code: RegExp, reason: FailedReason])[] = [
  [/^(ENOTFOUND|EAI_.*)$/, "dns"],
  [/^(CERT_|ERR_TLS|ERR_SSL|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|EPROTO)/, "tls"],
  [/^HPE_/, "protocol"],
  [/^(ECONNRESET|EPIPE)$/, "closed"],
];

const reasonOf = (code: string): FailedReason => REASONS.find(([pattern]) => pattern.test(code))?.[1] ?? "connect";
