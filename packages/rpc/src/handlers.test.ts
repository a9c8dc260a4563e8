import { once } from "node:events";
import { AppError } from "@brand-records/errors";
import { eventually } from "@brand-records/testkit";
import { callContext, serveEcho, type Echo, type Message } from "../test/echo-service.ts";
import type { CallContext } from "./call-context.ts";
import { fromServiceError } from "./wire-errors.ts";

let echo: Echo | undefined;
afterEach(() => echo?.stop());

type Chat = (messages: AsyncIterable<Message>, context: CallContext) => AsyncIterable<Message>;
const serve = async (chat: Chat) => {
  echo = await serveEcho({ chat });
  return echo.connect();
};
const failureOf = async (stream: NodeJS.EventEmitter): Promise<AppError> => {
  const [error] = (await once(stream, "error")) as Parameters<typeof fromServiceError>;
  return fromServiceError(error);
};

describe("a bidirectional stream", () => {
  it("ends after everything that the handler yielded", async () => {
    const client = await serve(async function* (messages) {
      for await (const { n } of messages) yield { twice: Number(n) * 2 };
      yield { done: true };
    });
    const stream = client.chat(callContext());
    for (const n of [1, 2, 3]) stream.write({ n });
    stream.end();
    const responses: Message[] = [];
    for await (const response of stream) responses.push(response as Message);
    expect(responses).toEqual([{ twice: 2 }, { twice: 4 }, { twice: 6 }, { done: true }]);
  });

  it.each([
    ["before it reads anything", 0],
    ["in the middle of reading", 2],
  ])("fails immediately, while the client may still write: %s", async (_, after) => {
    const client = await serve(async function* (messages) {
      let read = 0;
      if (after > 0)
        for await (const message of messages) {
          yield message;
          read += 1;
          if (read === after) break;
        }
      throw new AppError("invalid_request", "That is enough", { field: "n" });
    });
    const stream = client.chat(callContext());
    stream.resume();
    for (let n = 0; n < 5; n += 1) stream.write({ n });
    expect(await failureOf(stream)).toMatchObject({ kind: "invalid_request", message: "That is enough", field: "n" });
  });

  it("ends when the handler returns early", async () => {
    const client = await serve(async function* (messages) {
      for await (const message of messages) {
        yield message;
        return;
      }
    });
    const stream = client.chat(callContext());
    stream.write({ n: 1 });
    const responses: Message[] = [];
    for await (const response of stream) responses.push(response as Message);
    expect(responses).toEqual([{ n: 1 }]);
  });

  it("waits for a slow reader without warnings, and sends everything in order", async () => {
    const COUNT = 2_000;
    let sent = 0;
    const client = await serve(async function* () {
      for (; sent < COUNT; sent += 1) yield { n: sent, text: "x".repeat(10_000) };
    });
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on("warning", onWarning);
    const stream = client.chat(callContext());
    await once(stream, "readable");
    // 20 MB to send, and no reader.
    let before = -1;
    await eventually(
      () => {
        const stalled = sent === before;
        before = sent;
        expect(stalled && sent > 0).toBe(true);
      },
      { everyMs: 100 },
    );
    expect(sent).toBeLessThan(COUNT);
    let expected = 0;
    for await (const { n } of stream as AsyncIterable<Message>) {
      expect(n).toBe(expected);
      expected += 1;
    }
    expect(expected).toBe(COUNT);
    process.off("warning", onWarning);
    expect(warnings).toEqual([]);
  });

  it("ends the requests of a caller that has gone, so its handler does not wait forever", async () => {
    const STREAMS = 50;
    let ended = 0;
    const client = await serve(async function* (messages) {
      try {
        for await (const message of messages) yield message;
      } finally {
        ended += 1;
      }
    });
    const streams = Array.from({ length: STREAMS }, () => client.chat(callContext()));
    for (const stream of streams) {
      stream.on("error", () => {});
      stream.write({ n: 1 });
      await once(stream, "data");
    }
    expect(ended).toBe(0);
    for (const stream of streams) stream.cancel();
    await eventually(() => expect(ended).toBe(STREAMS));
  });

  it("resumes a handler that waits to write when the caller has gone", async () => {
    let ended = false;
    const client = await serve(async function* () {
      try {
        for (let n = 0; n < 10_000; n += 1) yield { n, text: "x".repeat(10_000) };
      } finally {
        ended = true;
      }
    });
    const stream = client.chat(callContext());
    await once(stream, "readable");
    stream.on("error", () => {});
    stream.cancel();
    await eventually(() => expect(ended).toBe(true));
  });
});

it("every call is measured by method and outcome, and logged with its request id and trace", async () => {
  echo = await serveEcho({
    say: async () => {
      throw new AppError("not_found", "There is none");
    },
  });
  const client = echo.connect();
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  await client.saySafely({}, callContext({ requestId: "req_1", traceparent }));
  await expect(client.say({}, callContext({ requestId: "req_2", traceparent: "not a trace" }))).rejects.toMatchObject({
    kind: "not_found",
  });
  expect(echo.lines).toMatchObject([
    { method: "/test.v1.EchoService/SaySafely", request_id: "req_1", trace_id: "0af7651916cd43dd8448eb211c80319c" },
    { method: "/test.v1.EchoService/Say", request_id: "req_2", trace_id: expect.stringMatching(/^[0-9a-f]{32}$/), kind: "not_found" },
  ]);
});

describe("a response that cannot be serialized", () => {
  /** JSON has no big integers. */
  const unspeakable = { n: 1n };
  const failures = () => echo?.lines.filter(({ msg }) => msg === "call failed");

  it("fails the call with internal_error, which is logged with its request and counted", async () => {
    echo = await serveEcho({ say: async () => unspeakable });
    const calling = echo.connect().say({}, callContext({ requestId: "req-1" }));
    await expect(calling).rejects.toMatchObject({ kind: "internal_error" });
    expect(failures()).toEqual([expect.objectContaining({ level: 50, request_id: "req-1", kind: "internal_error" })]);
  });

  it("fails a stream in the same way, after the responses sent before", async () => {
    const client = await serve(async function* () {
      yield { n: 1 };
      yield unspeakable;
    });
    const stream = client.chat(callContext({ requestId: "req-2" }));
    const received: unknown[] = [];
    stream.on("data", (message) => received.push(message));
    expect(await failureOf(stream)).toMatchObject({ kind: "internal_error" });
    expect(received).toEqual([{ n: 1 }]);
    expect(failures()).toEqual([expect.objectContaining({ level: 50, request_id: "req-2", kind: "internal_error" })]);
  });
});
