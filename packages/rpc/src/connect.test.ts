import { once } from "node:events";
import { createServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { AppError } from "@brand-records/errors";
import { eventually, startTcpProxy } from "@brand-records/testkit";
import { StreamDecoder } from "@grpc/grpc-js/build/src/stream-decoder.js";
import { callContext, echoMethods, EchoService, own, serve, serveEcho, type Message } from "../test/echo-service.ts";
import type { CallContext } from "./call-context.ts";
import { connectRpc } from "./connect.ts";

/** An HTTP/2 server that answers nothing by itself. */
async function serveHttp2() {
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer().on("session", (session) => void sessions.add(session));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const cut = (): void => {
    for (const session of sessions) session.destroy();
  };
  own({
    stop() {
      cut();
      server.close();
    },
  });
  return { server, sessions, port: (server.address() as AddressInfo).port, cut };
}

/** A handler that returns once `open` was called. */
function gate() {
  let open = (): void => {};
  const opens = new Promise<void>((resolve) => void (open = resolve));
  const calls: CallContext[] = [];
  const handler = async (message: Message, context: CallContext): Promise<Message> => {
    calls.push(context);
    await opens;
    return message;
  };
  return { calls, handler, open };
}

it("a decoder holds nothing of what it has read once its messages are whole, and the beginning of one that is not", () => {
  const message = Buffer.from([0, 0, 0, 0, 3, 7, 8, 9]);
  const decoder = new StreamDecoder(-1);
  const held = (read: Buffer) =>
    Object.values(decoder)
      .flat()
      .filter((value) => Buffer.isBuffer(value) && value.buffer === read.buffer);
  const first = Buffer.from(new Uint8Array(message).buffer);
  expect(decoder.write(first)).toEqual([message]);
  expect(held(first)).toEqual([]);
  const cut = Buffer.from(new Uint8Array([...message, ...message.subarray(0, 6)]).buffer);
  expect(decoder.write(cut)).toEqual([message]);
  expect(held(cut)).not.toEqual([]);
  expect(decoder.write(message.subarray(6))).toEqual([message]);
});

it("a call carries the request id and the trace", async () => {
  const { calls, handler, open } = gate();
  open();
  const client = (await serve({ say: handler })).connect();
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  await client.say({}, callContext({ requestId: "req_42", traceparent }));
  expect(calls).toMatchObject([{ requestId: "req_42", traceparent }]);
});

it.each(["gr4nt\r\nx-request-id: mine", "gr4nt\u00f1", "gr4nt\0"])(
  "a call does not begin with the grant %j, and no error quotes it",
  async (grant) => {
    const { calls, handler } = gate();
    const client = (await serve({ say: handler })).connect();
    const call = client.say({}, callContext({ grants: { test: grant } }));
    const failure: unknown = await call.catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: "invalid_session" });
    expect(inspect(failure, { depth: null })).not.toContain("gr4nt");
    expect(calls).toEqual([]);
  },
);

it("a call to a closed port fails with unavailable and a retry after a second", async () => {
  const { address, stop } = await serveEcho();
  await stop();
  const client = own(connectRpc(EchoService, address));
  for (const call of [client.say, client.saySafely]) {
    await expect(call({}, callContext())).rejects.toMatchObject({ kind: "unavailable", retryAfterSeconds: 1 });
  }
});

it("a service may send 32 pages of 16 KiB on a connection before its client has read any", async () => {
  const { sessions, port } = await serveHttp2();
  const client = own(connectRpc(EchoService, `127.0.0.1:${port}`));
  void client.connected();
  await eventually(() => {
    const [session] = sessions;
    expect(session?.remoteSettings?.initialWindowSize).toBeGreaterThanOrEqual(32 * 16 * 1024);
    expect(session?.state.remoteWindowSize).toBeGreaterThanOrEqual(32 * 16 * 1024);
  });
});

it("a client reconnects to its service automatically", async () => {
  const echo = await serve();
  const proxy = own(await startTcpProxy({ host: "127.0.0.1", port: echo.port }));
  const client = own(connectRpc(EchoService, `127.0.0.1:${proxy.port}`));
  await client.say({}, callContext());
  await proxy.cut();
  await expect(client.say({}, callContext())).rejects.toMatchObject({ kind: "unavailable" });
  await proxy.heal();
  await eventually(async () => expect(await client.say({ n: 1 }, callContext())).toEqual({ n: 1 }));
});

it("a call in flight when the connection is lost fails with unavailable", async () => {
  const { calls, handler, open } = gate();
  const echo = await serve({ say: handler });
  const proxy = own(await startTcpProxy({ host: "127.0.0.1", port: echo.port }));
  const client = own(connectRpc(EchoService, `127.0.0.1:${proxy.port}`));
  const call = client.say({}, callContext()).catch((error: unknown) => error);
  await eventually(() => expect(calls).toHaveLength(1));
  await proxy.cut();
  expect(await call).toMatchObject({ kind: "unavailable" });
  open();
});

describe("after unavailable", () => {
  const failingTwice = () => {
    let attempts = 0;
    const handler = async (message: Message): Promise<Message> => {
      attempts += 1;
      if (attempts <= 2) throw new AppError("unavailable", "The database cannot be reached");
      return { ...message, attempts };
    };
    return { handler, attempts: () => attempts };
  };

  it("an idempotent method is retried until it succeeds", async () => {
    const client = (await serve({ saySafely: failingTwice().handler })).connect();
    expect(await client.saySafely({ n: 1 }, callContext())).toEqual({ n: 1, attempts: 3 });
  });

  it("any other method is sent once", async () => {
    const { handler, attempts } = failingTwice();
    const client = (await serve({ say: handler })).connect();
    await expect(client.say({}, callContext())).rejects.toMatchObject({ kind: "unavailable" });
    expect(attempts()).toBe(1);
  });

  it("an idempotent method fails after four attempts", async () => {
    let attempts = 0;
    const saySafely = async (): Promise<Message> => {
      attempts += 1;
      throw new AppError("unavailable", "The database cannot be reached", { retryAfterSeconds: 3 });
    };
    const client = (await serve({ saySafely })).connect();
    await expect(client.saySafely({}, callContext())).rejects.toMatchObject({ kind: "unavailable", retryAfterSeconds: 3 });
    expect(attempts).toBe(4);
  });

  it("an idempotent method is sent once while more tries have failed than succeeded, so that an overloaded service is not asked more", async () => {
    let attempts = 0;
    const saySafely = async (): Promise<Message> => {
      attempts += 1;
      throw new AppError("unavailable", "Overloaded");
    };
    const client = (await serve({ saySafely })).connect();
    await Promise.allSettled(Array.from({ length: 500 }, () => client.saySafely({}, callContext())));
    const before = attempts;
    await expect(client.saySafely({}, callContext())).rejects.toMatchObject({ kind: "unavailable" });
    // None if the connection was given up: this process was too busy to read the answer to a ping.
    expect(attempts - before).toBeLessThanOrEqual(1);
  });

  it.each(["invalid_request", "internal_error", "not_found", "rate_limited"] as const)("but not after %s", async (kind) => {
    let attempts = 0;
    const saySafely = async (): Promise<Message> => {
      attempts += 1;
      throw new AppError(kind, "No");
    };
    const client = (await serve({ saySafely })).connect();
    await expect(client.saySafely({}, callContext())).rejects.toMatchObject({ kind });
    expect(attempts).toBe(1);
  });
});

describe("of two processes one loses its connection in the middle of a response", () => {
  /** Begins to respond to each call, and ends its connection once that is sent, or with `cut`. */
  async function serveHalf({ cutsAtOnce = true } = {}) {
    const { server, port, cut } = await serveHttp2();
    let calls = 0;
    server.on("stream", (stream) => {
      stream.on("error", () => {});
      stream.respond({ ":status": 200, "content-type": "application/grpc" });
      stream.write(Buffer.of(0), () => {
        calls += 1;
        if (cutsAtOnce) stream.session?.destroy();
      });
    });
    return { port, calls: () => calls, cut };
  }

  it("an idempotent method succeeds at the other", async () => {
    const [half, echo] = [await serveHalf(), await serve()];
    const client = own(connectRpc(EchoService, `ipv4:127.0.0.1:${half.port},127.0.0.1:${echo.port}`, { methods: echoMethods() }));
    // The two take turns, once both are connected.
    while (half.calls() === 0) expect(await client.saySafely({ n: 1 }, callContext())).toEqual({ n: 1 });
  });

  it("a client that was stopped meanwhile fails", async () => {
    const half = await serveHalf({ cutsAtOnce: false });
    const client = own(connectRpc(EchoService, `127.0.0.1:${half.port}`, { methods: echoMethods() }));
    const call = client.saySafely({}, callContext()).catch((error: unknown) => error);
    await eventually(() => expect(half.calls()).toBe(1));
    client.stop();
    half.cut();
    expect(await call).toMatchObject({ kind: "unavailable" });
    expect(half.calls()).toBe(1);
  });

  it("any other method fails, and is sent once", async () => {
    const half = await serveHalf();
    const client = own(connectRpc(EchoService, `127.0.0.1:${half.port}`, { methods: echoMethods() }));
    await expect(client.say({}, callContext())).rejects.toMatchObject({ kind: "unavailable" });
    expect(half.calls()).toBe(1);
  });

  it("an idempotent method fails if it happens again", async () => {
    const half = await serveHalf();
    const client = own(connectRpc(EchoService, `127.0.0.1:${half.port}`, { methods: echoMethods() }));
    await expect(client.saySafely({}, callContext())).rejects.toMatchObject({ kind: "unavailable" });
    expect(half.calls()).toBe(2);
  });
});

describe("deadlines", () => {
  it("end a call with timeout on both sides", async () => {
    const { calls, handler, open } = gate();
    const client = (await serve({ say: handler })).connect();
    await expect(client.say({}, callContext({ deadline: Date.now() + 2_000 }))).rejects.toMatchObject({ kind: "timeout" });
    await eventually(() => expect(calls[0]?.parent?.cancelled).toBe(true));
    open();
  });

  it("shrink along a chain: a service stops working when its caller's caller stops waiting", async () => {
    const { calls, handler, open } = gate();
    open();
    const back = (await serve({ say: handler })).connect();
    const front = await serve({ say: (message, context) => back.say(message, { ...context, deadline: Date.now() + 3_600_000 }) });
    const deadline = Date.now() + 5_000;
    await front.connect().say({}, callContext({ deadline }));
    // Deadlines are sent as durations, so each hop may add its latency.
    expect((calls[0]?.deadline ?? Number.NaN) - deadline).toBeLessThan(1_000);
  });
});

describe("a caller that aborts", () => {
  it("before the call prevents the call", async () => {
    const { calls, handler, open } = gate();
    open();
    const client = (await serve({ say: handler })).connect();
    await expect(client.say({}, callContext({ signal: AbortSignal.abort() }))).rejects.toBeInstanceOf(AppError);
    await client.saySafely({}, callContext());
    expect(calls).toEqual([]);
  });

  it("cancels a stream on the server", async () => {
    const begun: CallContext[] = [];
    const echo = await serve({
      async *chat(messages, context) {
        begun.push(context);
        yield* messages;
      },
    });
    const leaving = new AbortController();
    const stream = echo.connect().chat(callContext({ signal: leaving.signal }));
    const failed = once(stream, "error");
    stream.write({ n: 1 });
    await once(stream, "data");
    leaving.abort();
    await failed;
    await eventually(() => expect(begun[0]?.parent?.cancelled).toBe(true));
  });

  it("cancels the call, through a whole chain of services", async () => {
    const { calls, handler, open } = gate();
    const back = (await serve({ say: handler })).connect();
    const front = await serve({ say: (message, context) => back.say(message, context) });
    const leaving = new AbortController();
    const call = front
      .connect()
      .say({}, callContext({ signal: leaving.signal }))
      .catch((error: unknown) => error);
    await eventually(() => expect(calls).toHaveLength(1));
    leaving.abort();
    expect(await call).toBeInstanceOf(AppError);
    await eventually(() => expect(calls[0]?.parent?.cancelled).toBe(true));
    open();
  });

  it("leaves no listener on a signal that outlives the call", async () => {
    const client = (await serve()).connect();
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on("warning", onWarning);
    const { signal } = new AbortController();
    for (let i = 0; i < 30; i += 1) await client.say({}, callContext({ signal }));
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", onWarning);
    expect(warnings).toEqual([]);
  });
});
