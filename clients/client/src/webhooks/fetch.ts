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

/**
 * Returns a handler of requests for Workers, Bun, Deno and route handlers. A Worker's `env` and context go on to `secrets` and `handle`.
 *
 *     export default { fetch: receiveEvents({ secrets: (_, env: Env) => env.WEBHOOK_SECRET }, async (event, _, env) => { … }) };
 */
export function receiveEvents<const Type extends string = string, Env = unknown, Execution = unknown>(
  options: ReceiverOptions<Type, readonly [Request, Env, Execution]>,
  handle: EventHandler<Type, readonly [Request, Env, Execution]>,
): (request: Request, env?: Env, execution?: Execution) => Promise<Response> {
  requireSecrets(options);
  return async (request, env, execution) =>
    toResponse(await receiveRequest(request, options, handle, [request, env as Env, execution as Execution]));
}

/** Reads the raw body of a request, verifies it, and has it handled. */
export async function receiveRequest<Type extends string, Context extends readonly unknown[]>(
  request: Request,
  options: ReceiverOptions<Type, Context>,
  handle: EventHandler<Type, Context>,
  context: Context,
): Promise<Outcome> {
  if (request.method !== "POST") return NOT_POST;
  if (request.bodyUsed) throw new TypeError(READ_BEFORE);
  const body = await readBytes(request.body);
  return body === undefined ? TOO_LARGE : receive(body, request.headers, options, handle, context);
}

export function toResponse(outcome: Outcome): Response {
  const { Connection: _, ...headers } = responseHeaders(outcome);
  return new Response(outcome.text === undefined ? null : `${outcome.text}\n`, { status: outcome.status, headers });
}

/** Returns undefined if there are too many. */
async function readBytes(stream: ReadableStream<Uint8Array> | null): Promise<Uint8Array | undefined> {
  if (stream === null) return new Uint8Array();
  const reader = stream.getReader();
  const body = new BodyBytes();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return body.all;
    if (body.add(value)) continue;
    await reader.cancel();
    return undefined;
  }
}
