import { withTimeout } from "./abortable.ts";
import { BrandRecordsError, type ErrorFields, type ProblemDetail } from "./brand-records-error.ts";
import { readRetryAfter, responseMeta, type ResponseMeta } from "./response-meta.ts";
import { VERSION } from "./version.ts";

export interface AttemptRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  /** JSON. */
  readonly body?: string | undefined;
  /** Whether a successful response has everything. Default: whether it is a JSON object. */
  readonly isWhole?: ((body: unknown) => boolean) | undefined;
}

export interface Answer {
  readonly meta: ResponseMeta;
  readonly headers: Headers;
  /** The JSON value of the body. */
  readonly body: unknown;
}

export interface Attempt {
  readonly fetch: typeof fetch;
  readonly key: string;
  readonly userAgent: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Sends a request once, and reads the whole response.
 *
 * @throws BrandRecordsError unless it is a success, or the signal's reason
 */
export async function attemptOnce(
  request: AttemptRequest,
  { fetch, key, userAgent = `brand-records-client/${VERSION}`, timeoutMs, signal }: Attempt,
): Promise<Answer> {
  const { method, url, body } = request;
  const headers = {
    Accept: "application/json",
    Authorization: `Bearer ${key}`,
    "User-Agent": `${userAgent} (${runtime()})`,
    ...(body !== undefined && { "Content-Type": "application/json" }),
  };
  let response: Response | undefined;
  let text: string;
  try {
    text = await withTimeout(timeoutMs, signal, async (signal) => {
      // The API has no redirects, and a key must not follow one to another host.
      response = await fetch(url, { method, headers, redirect: "manual", signal, ...(body !== undefined && { body }) });
      return await response.text();
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw noResponse(error, response);
  }
  // A fetch that resolved has a response.
  return read(request, response as Response, text);
}

function read({ isWhole = isObject }: AttemptRequest, response: Response, text: string): Answer {
  const meta = responseMeta(response);
  const body = parse(text);
  if (!response.ok) throw errorOf(response, meta, body);
  if (isWhole(body)) return { meta, headers: response.headers, body };
  // With the end of the body, records may be missing. Without the header, it is no response of the service.
  const isCut = meta.brandId !== undefined;
  const message = isCut ? "the body is not whole." : "no X-Brand-Id: is url the service's address?";
  throw new BrandRecordsError(`HTTP ${meta.status}: ${message}`, {
    ...fieldsOf(meta),
    code: isCut ? "no_response" : "unexpected_response",
  });
}

const fieldsOf = ({ status, brandId, requestId }: ResponseMeta) => ({ status, brandId, requestId });

/** The error that the service describes in the body, or what can be known without. */
function errorOf(response: Response, meta: ResponseMeta, body: unknown): BrandRecordsError {
  const fields = { ...fieldsOf(meta), retryAfter: readRetryAfter(response) };
  const error = isObject(body) && isObject(body["error"]) ? body["error"] : undefined;
  if (typeof error?.["code"] !== "string") {
    const location = response.headers.get("Location");
    const advice = location === null ? "" : `; it redirects to ${location}: is url right?`;
    return new BrandRecordsError(`HTTP ${meta.status} without an error of the service${advice}`, {
      ...fields,
      code: "unexpected_response",
    });
  }
  const { code, docs_url, message, field, details, request_id } = error;
  const served: ErrorFields = {
    ...fields,
    code,
    field: typeof field === "string" ? field : undefined,
    details: Array.isArray(details) ? details.filter(isDetail) : undefined,
    docsUrl: typeof docs_url === "string" ? docs_url : undefined,
    requestId: typeof request_id === "string" ? request_id : fields.requestId,
  };
  return new BrandRecordsError(typeof message === "string" ? message : code, served);
}

const isDetail = (value: unknown): value is ProblemDetail =>
  isObject(value) && typeof value["field"] === "string" && typeof value["message"] === "string";

/** Such as `Node.js/24`. Node.js 20 names itself elsewhere. */
function runtime(): string {
  const { navigator, process } = globalThis as { navigator?: { userAgent?: string }; process?: { version?: string } };
  return navigator?.userAgent ?? `Node.js/${process?.version?.slice(1)}`;
}

/** No connection, a cut one, or not in time: the request may have been carried out or not. */
function noResponse(error: unknown, response: Response | undefined): BrandRecordsError {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  const { message: reason = "", code = "" } = (cause ?? {}) as { message?: string; code?: string };
  const { brandId, requestId } = response === undefined ? {} : (responseMeta(response) as Partial<ResponseMeta>);
  // That of several addresses has no message.
  const words = [message, reason.trim() || code].filter(Boolean).join(": ");
  return new BrandRecordsError(`no complete response: ${words}`, { code: "no_response", brandId, requestId }, { cause: error });
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
