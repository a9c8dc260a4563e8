import type { Caller } from "@brand-records/proto/methods";
import { openMetrics, type Logger, type Registry } from "@brand-records/telemetry";
import type { MethodDefinition } from "@grpc/grpc-js";
import { pino } from "pino";
import { type CallContext, newCallContext } from "../src/call-context.ts";
import { connectRpc, type ConnectOptions, type RpcClient } from "../src/connect.ts";
import { service, type Handlers } from "../src/handlers.ts";
import type { Methods } from "../src/methods.ts";
import { type RpcServer, type ServeOptions, serveRpc } from "../src/serve.ts";

/** A message of any shape, sent as JSON: these tests are about calls, not protobuf. */
export type Message = { [name: string]: unknown };

const serialize = (message: Message): Buffer => Buffer.from(JSON.stringify(message));
const deserialize = (bytes: Buffer): Message => JSON.parse(bytes.toString()) as Message;
const codec = {
  requestSerialize: serialize,
  requestDeserialize: deserialize,
  responseSerialize: serialize,
  responseDeserialize: deserialize,
};

type Unary = MethodDefinition<Message, Message> & { readonly requestStream: false; readonly responseStream: false };
type Bidi = MethodDefinition<Message, Message> & { readonly requestStream: true; readonly responseStream: true };

const unary = (path: string): Unary => ({ path, requestStream: false, responseStream: false, ...codec });

export const EchoService = {
  say: unary("/test.v1.EchoService/Say"),
  saySafely: unary("/test.v1.EchoService/SaySafely"),
  chat: { path: "/test.v1.EchoService/Chat", requestStream: true, responseStream: true, ...codec } as Bidi,
};
export type EchoService = typeof EchoService;
export type EchoClient = RpcClient<EchoService>;

/** What the echo's methods say of themselves: saySafely alone may be repeated. */
export const echoMethods = (callers: { readonly [Name in keyof EchoService]?: readonly Caller[] } = {}): Methods =>
  Object.fromEntries(
    Object.entries(EchoService).map(([name, { path }]) => [
      path,
      { isIdempotent: name === "saySafely", callers: callers[name as keyof EchoService] ?? [], actor: "caller" },
    ]),
  );

export const callContext = (more: Partial<CallContext> = {}): CallContext => ({
  // Later than any test's timeout: a call that hangs fails the test, instead of ending with the timeout that a test may expect.
  ...newCallContext(120_000, "test"),
  ...more,
});

const echo = async (message: Message): Promise<Message> => message;

async function* echoAll(messages: AsyncIterable<Message>): AsyncGenerator<Message> {
  yield* messages;
}

export interface Echo extends RpcServer {
  readonly address: string;
  /** The parsed lines of the server's log. */
  readonly lines: Record<string, unknown>[];
  readonly metrics: Registry;
  connect(options?: ConnectOptions): EchoClient;
}

/** Serves an echo with some handlers replaced. `stop` also stops the clients. */
export async function serveEcho(
  handlers: Partial<Handlers<EchoService>> = {},
  config: Partial<ServeOptions["config"]> = {},
  callers: { readonly [Name in keyof EchoService]?: readonly Caller[] } = {},
): Promise<Echo> {
  const lines: Record<string, unknown>[] = [];
  const log: Logger = pino({ level: "debug" }, { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
  const metrics = openMetrics("echo");
  const server = await serveRpc({
    config: { RPC_HOST: "127.0.0.1", RPC_PORT: 0, RPC_OPERATOR_WITHOUT_TLS: "true", ...config },
    services: [service(EchoService, { say: echo, saySafely: echo, chat: echoAll, ...handlers })],
    log,
    metrics,
    methods: echoMethods(callers),
  });
  const address = `127.0.0.1:${server.port}`;
  const clients: EchoClient[] = [];
  return {
    port: server.port,
    address,
    lines,
    metrics,
    connect(options = {}) {
      const client = connectRpc(EchoService, address, { methods: echoMethods(), ...options });
      clients.push(client);
      return client;
    },
    async stop() {
      for (const client of clients) client.stop();
      await server.stop();
    },
  };
}

const opened: { stop(): void | Promise<void> }[] = [];

/** Stops a thing when the test ends: the newest first. */
export function own<T extends { stop(): void | Promise<void> }>(thing: T): T {
  opened.push(thing);
  return thing;
}
afterEach(async () => {
  for (const thing of opened.splice(0).toReversed()) await thing.stop();
});

/** Serves an echo for a test. */
export const serve = async (...parameters: Parameters<typeof serveEcho>): Promise<Echo> => own(await serveEcho(...parameters));
