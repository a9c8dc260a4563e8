import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { attemptPost } from "./attempt.ts";
import { ReceiverAgent } from "./receiver-agent.ts";

/** Answers each request 20 ms after it came, on a thread of its own. */
const RECEIVER = `
  const { parentPort } = require("node:worker_threads");
  const server = require("node:http").createServer((request, response) => {
    parentPort.postMessage("requested");
    request.resume().on("end", () => setTimeout(() => response.writeHead(204).end(), 20));
  });
  server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));`;

const DEADLINE_MS = 1_000;

it("counts a response that came in time while the process was busy until after the deadline", async () => {
  const receiver = new Worker(RECEIVER, { eval: true });
  const agent = new ReceiverAgent({ allowLoopback: true, connectionsMax: 1 });
  try {
    const [port] = (await once(receiver, "message")) as [number];
    const requested = once(receiver, "message");
    const outcome = attemptPost(agent, { url: `http://127.0.0.1:${port}/`, headers: {}, body: Buffer.from("{}"), deadlineMs: DEADLINE_MS });
    await requested;
    // Nothing of this thread runs meanwhile.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, DEADLINE_MS + 100);
    expect(await outcome).toMatchObject({ kind: "accepted", httpStatus: 204 });
  } finally {
    await agent.stop();
    await receiver.terminate();
  }
});
