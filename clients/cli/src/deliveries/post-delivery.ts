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

type Outcome =
  | { readonly kind: "response"; readonly status: number; readonly retryAfter: string | undefined }
  /** No whole response in time. */
  | { readonly kind: "slow" }
  /** No response: `code` is the system's, such as ECONNREFUSED. */
  | { readonly kind: "failed"; readonly reason: FailedReason; readonly code: string };

/** What became of a delivery, and after how long. */
export type Reply = Outcome & { readonly milliseconds: number };

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
  const send = to.protocol === "https:" ? requestHttps : requestHttp;
  const request = send(to, { method: "POST", headers: { ...headers, "Content-Length": body.length }, agent: false });
  let stop = (): void => {};
  // The request alone may never settle: Node.js does not report every response and every end.
  const stopped = new Promise<undefined>((resolve) => (stop = () => resolve(undefined)));
  const timer = setTimeout(stop, timeoutMs);
  signal.addEventListener("abort", stop);
  try {
    const ended = await Promise.race([settled(request, body), stopped]);
    signal.throwIfAborted();
    return { ...(ended ?? { kind: "slow" }), milliseconds: Math.round(performance.now() - startedAt) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    request.destroy();
  }
}

/** Never rejects. */
async function settled(request: ClientRequest, body: Buffer): Promise<Outcome> {
  try {
    const response = await responseTo(request, body);
    const { statusCode = 0, headers } = response;
    // After this one the server speaks another protocol.
    if (statusCode !== 101) await readPrefix(response);
    return { kind: "response", status: statusCode, retryAfter: headers["retry-after"] };
  } catch (error) {
    const code = codeOf(error);
    return { kind: "failed", reason: reasonOf(code), code };
  }
}

function responseTo(request: ClientRequest, body: Buffer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once("response", resolve);
    request.once("upgrade", (response, socket) => {
      socket.destroy();
      resolve(response);
    });
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
