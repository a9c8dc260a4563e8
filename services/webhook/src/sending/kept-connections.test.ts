import { startDnsServer } from "@brand-records/testkit";
import { NO_CONTENT, startRawReceiver, type RawReceiver, type RawRequest } from "../../test/raw-receiver.ts";
import { attemptPost } from "./attempt.ts";
import { ReceiverAgent } from "./receiver-agent.ts";

/** A receiver may close a kept-alive connection just as a request is sent on it. */

let opened: { stop(): Promise<void> }[];
beforeEach(() => {
  opened = [];
});
afterEach(async () => {
  for (const each of opened.toReversed()) await each.stop();
});

async function receiving(onRequest: (request: RawRequest) => void): Promise<RawReceiver> {
  const receiver = await startRawReceiver(onRequest);
  opened.push(receiver);
  return receiver;
}

/** An agent with one connection, so that each request reuses the previous one's. */
function agentWith(dnsServers: readonly string[] = []): ReceiverAgent {
  const agent = new ReceiverAgent({ allowLoopback: true, connectionsMax: 1, dnsServers });
  opened.push(agent);
  return agent;
}

const post = (agent: ReceiverAgent, url: string, number = 1, deadlineMs = 5_000) =>
  attemptPost(agent, {
    url,
    headers: { "x-service-attempt": "1", "webhook-id": `evt_${number}` },
    body: Buffer.from(`{"n":${number}}`),
    deadlineMs,
  });

/** Posts one after another. Returns the outcomes. */
async function postMany(receiver: RawReceiver, count: number): Promise<string[]> {
  const agent = agentWith();
  const outcomes: string[] = [];
  for (let number = 1; number <= count; number += 1) outcomes.push((await post(agent, receiver.url, number)).kind);
  return outcomes;
}

const idOf = ({ text }: RawRequest): string | undefined => /^webhook-id: (\S+)\r$/m.exec(text)?.[1];

it.each<[string, (request: RawRequest) => void]>([
  ["just after each response", ({ socket }) => void socket.write(NO_CONTENT, () => socket.end())],
  [
    "some milliseconds after each response",
    ({ socket, number }) => {
      socket.write(NO_CONTENT);
      setTimeout(() => socket.end(), number % 5);
    },
  ],
  ["when the second request arrives", ({ socket, number }) => (number === 1 ? socket.write(NO_CONTENT) : socket.end())],
  [
    "with a reset when the second request arrives",
    ({ socket, number }) => (number === 1 ? socket.write(NO_CONTENT) : socket.resetAndDestroy()),
  ],
])("fails none of 60 attempts to a receiver that closes kept-alive connections %s", async (_, onRequest) => {
  const receiver = await receiving(onRequest);
  expect(await postMany(receiver, 60)).toEqual(Array.from({ length: 60 }, () => "accepted"));
  expect(new Set(receiver.requests.map(idOf)).size).toBe(60);
});

it("repeats the same bytes on a new connection, which is closed afterwards", async () => {
  const receiver = await receiving(({ socket, number }) => (number === 1 ? socket.write(NO_CONTENT) : socket.end()));
  expect(await postMany(receiver, 2)).toEqual(["accepted", "accepted"]);
  const [first, second, repeated] = receiver.requests;
  expect(receiver.requests).toHaveLength(3);
  expect(second?.socket).toBe(first?.socket);
  expect(repeated?.socket).not.toBe(first?.socket);
  expect(repeated?.text).toBe(second?.text.replace("connection: keep-alive", "connection: close"));
  expect(repeated?.text).toContain("connection: close");
});

it("does not repeat a request that fails on a new connection", async () => {
  const receiver = await receiving(({ socket }) => socket.end());
  expect(await postMany(receiver, 3)).toEqual(["closed", "closed", "closed"]);
  expect(receiver.requests.map(idOf)).toEqual(["evt_1", "evt_2", "evt_3"]);
});

it("fails an attempt whose repeated request fails, too, without a third", async () => {
  let requests = 0;
  const receiver = await receiving(({ socket }) => ((requests += 1) === 1 ? socket.write(NO_CONTENT) : socket.end()));
  expect(await postMany(receiver, 3)).toEqual(["accepted", "closed", "closed"]);
  expect(receiver.requests.map(idOf)).toEqual(["evt_1", "evt_2", "evt_2", "evt_3"]);
});

it("does not repeat a request after the first byte of a response", async () => {
  const receiver = await receiving(({ socket, number }) => (number === 1 ? socket.write(NO_CONTENT) : socket.end("HTTP/1.1 2")));
  expect(await postMany(receiver, 2)).toEqual(["accepted", "closed"]);
  expect(receiver.requests).toHaveLength(2);
});

it("keeps the request and its repetition within one deadline", async () => {
  let requests = 0;
  const receiver = await receiving(({ socket }) => {
    requests += 1;
    if (requests === 1) socket.write(NO_CONTENT);
    if (requests === 2) socket.end();
  });
  const agent = agentWith();
  await post(agent, receiver.url);
  expect(await post(agent, receiver.url, 2, 500)).toMatchObject({ kind: "timeout", error: "not complete within 0.5 s" });
  expect(receiver.requests).toHaveLength(3);
});

it("checks the address of the second connection like any other", async () => {
  let questions = 0;
  const dns = await startDnsServer((_, type) => (type === "AAAA" ? [] : [(questions += 1) === 1 ? "127.0.0.1" : "10.0.0.1"]));
  opened.push(dns);
  const receiver = await receiving(({ socket, number }) => (number === 1 ? socket.write(NO_CONTENT) : socket.end()));
  const agent = agentWith([dns.address]);
  const url = `http://receiver.example:${receiver.port}/`;
  expect(await post(agent, url)).toMatchObject({ kind: "accepted" });
  expect(await post(agent, url, 2)).toMatchObject({ kind: "forbidden_address" });
});
