import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { eventually, startDnsServer, type DnsServer } from "@brand-records/testkit";
import { startReceivingServer, type ReceivingServer } from "../../test/receiving-server.ts";
import { attemptPost } from "./attempt.ts";
import { ReceiverAgent } from "./receiver-agent.ts";

/** Nothing is sent to an address that is not public, whether the URL names it or DNS returns it. */

let server: ReceivingServer;
let opened: { stop(): Promise<void> }[];
beforeEach(async () => {
  server = await startReceivingServer();
  opened = [server];
});
afterEach(async () => {
  for (const each of opened.toReversed()) await each.stop();
});

function agentWith(options: Partial<ConstructorParameters<typeof ReceiverAgent>[0]> = {}): ReceiverAgent {
  const agent = new ReceiverAgent({ allowLoopback: false, connectionsMax: 10, ...options });
  opened.push(agent);
  return agent;
}

async function startDns(lookup: Parameters<typeof startDnsServer>[0]): Promise<DnsServer> {
  const dns = await startDnsServer(lookup);
  opened.push(dns);
  return dns;
}

const post = (agent: ReceiverAgent, url: string, deadlineMs = 2_000) =>
  attemptPost(agent, { url, headers: { "x-service-event": "submission.approved" }, body: Buffer.from("{}"), deadlineMs });

const forbidden = { kind: "forbidden_address", httpStatus: null, error: "leads to an address that is not public; nothing was sent" };

// Every range and spelling: domain/forbidden-addresses.test.ts, domain/receiver-url.test.ts.
it.each(["127.0.0.1", "2130706433", "１２７.０.０.１", "10.0.0.1", "169.254.169.254", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]"])(
  "refuses the literal %s before anything is sent",
  async (host) => {
    for (const scheme of ["http", "https"]) {
      expect(await post(agentWith(), `${scheme}://${host}:${server.port}/`)).toMatchObject(forbidden);
    }
    expect(server.connections).toBe(0);
  },
);

it.each([
  ["a private address", ["127.0.0.1"], []],
  ["a private address beside a public one", ["198.41.0.4", "127.0.0.1"], []],
  ["a private IPv6 address beside a public IPv4 one", ["198.41.0.4"], ["::1"]],
  ["a private IPv4 address mapped to IPv6", [], ["::ffff:127.0.0.1"]],
  ["a private IPv4 address behind NAT64", [], ["64:ff9b::7f00:1"]],
  ["a link-local address", [], ["fe80::1"]],
])("refuses a name that resolves to %s", async (_, v4, v6) => {
  const dns = await startDns((_name, type) => (type === "A" ? v4 : v6));
  const agent = agentWith({ dnsServers: [dns.address] });
  expect(await post(agent, `http://receiver.example:${server.port}/`)).toMatchObject(forbidden);
  expect(await post(agent, `https://receiver.example:${server.port}/`)).toMatchObject(forbidden);
  expect(dns.questions.length).toBeGreaterThan(0);
  expect(server.connections).toBe(0);
});

it("refuses a name that resolves to a public address first and to a private one later", async () => {
  let questions = 0;
  const dns = await startDns((_, type) => {
    if (type === "AAAA") return [];
    questions += 1;
    return [questions === 1 ? "198.41.0.4" : "127.0.0.1"];
  });
  const agent = agentWith({ dnsServers: [dns.address] });
  const url = `http://receiver.example:${server.port}/`;
  // Nothing listens at the public address: a timeout or a failed connection shows that the request went there.
  expect((await post(agent, url, 300)).kind).toMatch(/^(timeout|connect)$/);
  expect(await post(agent, url)).toMatchObject(forbidden);
  expect(server.connections).toBe(0);
});

it("refuses a connection to an address that is not public, even if no earlier check ran", async () => {
  // send() does not check literals, and a literal is not resolved. Only the check of the connected address is left.
  const request = { origin: `http://127.0.0.1:${server.port}`, path: "/", method: "POST", body: "{}" } as const;
  expect(await agentWith().send(request, 2_000)).toMatchObject({ error: { code: "FORBIDDEN_ADDRESS" } });
  expect(server.requests).toEqual([]);
  expect((await agentWith({ allowLoopback: true }).send(request, 2_000)).statusCode).toBe(204);
});

it("does not take a connection that is reset before its address is read for one to a forbidden address", async () => {
  const withoutAddress = (message: unknown): void => {
    Object.defineProperty((message as { socket: Socket }).socket, "remoteAddress", { value: undefined });
  };
  subscribe("net.client.socket", withoutAddress);
  const outcome = await post(agentWith({ allowLoopback: true }), server.url);
  unsubscribe("net.client.socket", withoutAddress);
  expect(outcome).toMatchObject({ kind: "closed", httpStatus: null });
  expect(server.requests).toEqual([]);
});

it("follows no redirect, wherever it leads", async () => {
  const target = await startReceivingServer();
  opened.push(target);
  server.respond = (response) => response.writeHead(307, { location: target.url }).end();
  expect(await post(agentWith({ allowLoopback: true }), server.url)).toMatchObject({ kind: "refused", httpStatus: 307 });
  expect(target.connections).toBe(0);
});

it("records the outcome dns if a name cannot be resolved or no resolver responds", async () => {
  const dns = await startDns(() => []);
  expect(await post(agentWith({ dnsServers: [dns.address] }), "https://nowhere.example/")).toMatchObject({ kind: "dns" });
  const silent = agentWith({ dnsServers: ["127.0.0.1:9"] });
  expect((await post(silent, "https://nowhere.example/", 20_000)).kind).toBe("dns");
}, 30_000);

it("sends over IPv4 if the resolver never responds for IPv6", async () => {
  const silentDns = await startDns((_, type) => (type === "A" ? ["127.0.0.1"] : undefined));
  const agent = agentWith({ dnsServers: [silentDns.address, silentDns.address], allowLoopback: true });
  expect(await post(agent, `http://receiver.example:${server.port}/`, 4_000)).toMatchObject({ kind: "accepted" });
});

it("records the outcome dns after resolveMsMax, however many resolvers are silent", async () => {
  const silentDns = await startDns(() => undefined);
  const agent = agentWith({ dnsServers: [silentDns.address, silentDns.address, silentDns.address], resolveMsMax: 300 });
  expect(await post(agent, "https://receiver.example/", 15_000)).toMatchObject({ kind: "dns" });
});

it("allows loopback if configured, and no other private address", async () => {
  const agent = agentWith({ allowLoopback: true });
  for (const host of ["127.0.0.1", "localhost", "hooks.localhost"]) {
    expect(await post(agent, `http://${host}:${server.port}/`)).toMatchObject({ kind: "accepted", httpStatus: 204 });
  }
  for (const host of ["10.0.0.1", "169.254.169.254", "[fe80::1]", "0.0.0.0"])
    expect(await post(agent, `http://${host}/`)).toMatchObject(forbidden);
});

describe.each([1, 10])("a connection that reaches its age, of at most %s", (connectionsMax) => {
  const url = (): string => `http://receiver.example:${server.port}/`;

  const untilAged = async (): Promise<void> => {
    const from = Date.now() + 1;
    await eventually(() => expect(Date.now()).toBeGreaterThan(from));
  };

  it("takes no further request: later ones go where the name leads now, and the one under way is finished, once", async () => {
    const moved = await startReceivingServer(undefined, { host: "127.0.0.2", port: server.port });
    opened.push(moved);
    let address = "127.0.0.1";
    const dns = await startDns((_, type) => (type === "A" ? [address] : []));
    const agent = agentWith({ allowLoopback: true, connectionsMax, connectionMsMax: 1, dnsServers: [dns.address] });
    let finish = (): void => {};
    server.respond = (response) => void (finish = () => void response.writeHead(204).end());
    const underWay = post(agent, url(), 20_000);
    await eventually(() => expect(server.requests).toHaveLength(1));
    address = "127.0.0.2";
    await untilAged();
    expect(await post(agent, url())).toMatchObject({ kind: "accepted" });
    finish();
    expect(await underWay).toMatchObject({ kind: "accepted" });
    await eventually(() => expect(server.open).toBe(0));
    expect(await post(agent, url())).toMatchObject({ kind: "accepted" });
    expect([server.requests.length, moved.requests.length]).toEqual([1, 2]);
  });

  it.each([
    ["a private address", ["10.0.0.1"], "forbidden_address"],
    ["none", [], "dns"],
  ])("sends nothing more once the name leads to %s", async (_, later, kind) => {
    let addresses: readonly string[] = ["127.0.0.1"];
    const dns = await startDns((_name, type) => (type === "A" ? addresses : []));
    const agent = agentWith({ allowLoopback: true, connectionsMax, connectionMsMax: 1, dnsServers: [dns.address] });
    expect(await post(agent, url())).toMatchObject({ kind: "accepted" });
    addresses = later;
    await untilAged();
    for (let n = 0; n < 3; n += 1) expect(await post(agent, url())).toMatchObject({ kind });
    expect(server.requests).toHaveLength(1);
  });
});
