import { once } from "node:events";
import type { Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { startRawReceiver, type RawReceiver } from "../../test/raw-receiver.ts";
import { attemptPost } from "./attempt.ts";
import { ReceiverAgent } from "./receiver-agent.ts";

/** What becomes of an attempt to a receiver that does not respond as a server does. */

const DEADLINE_MS = 15_000;
/** Ends the attempts that nothing else ends. */
const SHORT_MS = 600;

const agent = new ReceiverAgent({ allowLoopback: true, connectionsMax: 10 });
let receiver: RawReceiver | undefined;
afterEach(() => receiver?.stop());
afterAll(() => agent.stop());

const post = (url: string, deadlineMs = DEADLINE_MS) => attemptPost(agent, { url, headers: {}, body: Buffer.from("{}"), deadlineMs });

const drip =
  (text: () => string, everyMs: number, head = "HTTP/1.1 200 OK\r\n") =>
  (socket: Socket): void => {
    socket.write(head);
    const timer = setInterval(() => socket.write(text()), everyMs);
    socket.on("close", () => clearInterval(timer));
  };

it.each<[string, object, number, (socket: Socket) => void]>([
  ["no response", { kind: "timeout", httpStatus: null, error: "not complete within 0.6 s" }, SHORT_MS, () => {}],
  ["headers that drip", { kind: "timeout" }, SHORT_MS, drip(() => "X-A: b\r\n", 50)],
  [
    "a body that drips beyond the deadline",
    { kind: "timeout", httpStatus: 200 },
    SHORT_MS,
    drip(() => "x", 50, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"),
  ],
  ["headers that do not end", { kind: "protocol" }, DEADLINE_MS, drip(() => `X-${Math.random()}: ${"x".repeat(8_000)}\r\n`, 1)],
  ["what is not HTTP", { kind: "protocol" }, DEADLINE_MS, (socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n")],
  ["a reset", { kind: "closed" }, DEADLINE_MS, (socket) => socket.resetAndDestroy()],
  ["an end before the response", { kind: "closed" }, DEADLINE_MS, (socket) => socket.end()],
  [
    "an end in the middle of the body",
    { kind: "closed", httpStatus: 200 },
    DEADLINE_MS,
    (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"),
  ],
])("reports the outcome of %s", async (_, outcome, deadlineMs, respond) => {
  receiver = await startRawReceiver(({ socket }) => respond(socket));
  expect(await post(receiver.url, deadlineMs)).toMatchObject(outcome);
});

it("reports a connection that is refused", async () => {
  expect(await post("http://127.0.0.1:1/")).toMatchObject({ kind: "connect", error: expect.stringContaining("ECONNREFUSED") });
});

it.each<[string, RegExp, number, (socket: Socket) => void]>([
  ["never ends", /^(timeout|tls)$/, SHORT_MS, () => {}],
  ["is answered without TLS", /^tls$/, DEADLINE_MS, (socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")],
])("reports a TLS handshake that %s", async (_, kind, deadlineMs, onData) => {
  receiver = await startRawReceiver(() => {}, onData);
  expect((await post(receiver.url.replace("http:", "https:"), deadlineMs)).kind).toMatch(kind);
});

/** Answers each request 20 ms after it came, on a thread of its own. */
const RECEIVER = `
  const { parentPort } = require("node:worker_threads");
  const server = require("node:http").createServer((request, response) => {
    parentPort.postMessage("requested");
    request.resume().on("end", () => setTimeout(() => response.writeHead(204).end(), 20));
  });
  server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));`;

it("counts a response that came in time while the process was busy until after the deadline", async () => {
  const worker = new Worker(RECEIVER, { eval: true });
  try {
    const [port] = (await once(worker, "message")) as [number];
    const requested = once(worker, "message");
    const outcome = post(`http://127.0.0.1:${port}/`, 1_000);
    await requested;
    // Nothing of this thread runs meanwhile.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_100);
    expect(await outcome).toMatchObject({ kind: "accepted", httpStatus: 204 });
  } finally {
    await worker.terminate();
  }
});
