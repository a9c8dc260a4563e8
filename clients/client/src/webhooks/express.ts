import {
  BodyBytes,
  NOT_POST,
  READ_BEFORE,
  receive,
  requireSecrets,
  responseHeaders,
  TOO_LARGE,
  type EventHandler,
  type Outcome,
  type ReceiverOptions,
} from "./receiver.ts";

export type { EventHandler, EventOf, ReceiverOptions } from "./receiver.ts";

/** A request of Express or of node:http, as far as it is used here. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** What a parser made of the body, if one ran. */
  readonly body?: unknown;
  readonly readableDidRead: boolean;
  on(event: "data", listener: (chunk: Uint8Array) => void): unknown;
  on(event: "end" | "close", listener: () => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  pause(): unknown;
}

export interface NodeResponse {
  readonly headersSent?: boolean;
  destroy?(): unknown;
  writeHead(status: number, headers: Record<string, string>): { end(text?: string): unknown };
}

/**
 * Returns a handler for Express, or a request listener of node:http. It reads the raw body itself: no parser may run before it, except
 * `express.raw()`. A failure goes to Express; a bare listener reports it with `console.error` and responds with 500.
 *
 *     app.post("/hooks", receiveEvents({ secrets: process.env.WEBHOOK_SECRET, types: ["payout.paid"] }, async (event) => { … }));
 */
export function receiveEvents<const Type extends string = string, Request extends NodeRequest = NodeRequest>(
  options: ReceiverOptions<Type, readonly [Request]>,
  handle: EventHandler<Type, readonly [Request]>,
): (request: Request, response: NodeResponse, next?: (error: unknown) => void) => Promise<void> {
  requireSecrets(options);
  return async (request, response, next) => {
    try {
      respond(response, await receiveNodeRequest(request, options, handle));
    } catch (error) {
      if (next === undefined) respondToFailure(response, error);
      else next(error);
    }
  };
}

/** Does not reject: createServer ignores what a listener returns, and a rejection would end the process. */
function respondToFailure(response: NodeResponse, error: unknown): void {
  console.error("a delivery failed:", error);
  if (response.headersSent === true) response.destroy?.();
  else response.writeHead(500, { "Content-Type": "text/plain; charset=utf-8", Connection: "close" }).end("the receiver failed\n");
}

async function receiveNodeRequest<Type extends string, Request extends NodeRequest>(
  request: Request,
  options: ReceiverOptions<Type, readonly [Request]>,
  handle: EventHandler<Type, readonly [Request]>,
): Promise<Outcome> {
  if (request.method !== "POST") return NOT_POST;
  const body = request.body instanceof Uint8Array ? request.body : await readBytes(request);
  return body instanceof Uint8Array ? receive(body, request.headers, options, handle, [request]) : body;
}

function respond(response: NodeResponse, outcome: Outcome): void {
  const { status, text } = outcome;
  response.writeHead(status, responseHeaders(outcome)).end(text === undefined ? undefined : `${text}\n`);
}

/** Returns what to respond instead, if the body is too large or not whole. */
function readBytes(request: NodeRequest): Promise<Uint8Array | Outcome> {
  if (request.readableDidRead) throw new TypeError(READ_BEFORE);
  return new Promise((resolve) => {
    const body = new BodyBytes();
    request.on("data", (chunk) => {
      if (body.add(chunk)) return;
      // Paused, not destroyed: the response must still be sent.
      request.pause();
      resolve(TOO_LARGE);
    });
    request.on("end", () => resolve(body.all));
    const isCut = (): void => resolve({ status: 400, text: "the body is not whole" });
    request.on("error", isCut);
    request.on("close", isCut);
  });
}
