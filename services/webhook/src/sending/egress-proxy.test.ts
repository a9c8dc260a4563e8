import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, getCACertificates, setDefaultCACertificates } from "node:tls";
import {
  eventually,
  startConnectProxy,
  startDnsServer,
  type ConnectAnswer,
  type ConnectProxy,
  type DnsServer,
} from "@brand-records/testkit";
import { NO_CONTENT } from "../../test/raw-receiver.ts";
import { startReceivingServer, type ReceivingServer } from "../../test/receiving-server.ts";
import { serveSending } from "../../test/serve-sending.ts";
import { parseEgressProxy, type EgressProxyMode } from "../domain/egress-proxy.ts";
import { attemptPost } from "./attempt.ts";
import { ReceiverAgent, type ReceiverAgentOptions } from "./receiver-agent.ts";

/** Deliveries through an egress proxy: what it is asked for, what is checked before, and whose fault a failure is. */

const PUBLIC_V4 = "198.41.0.4";
const PUBLIC_V6 = "2001:503:ba3e::2:30";
const REFUSED = { kind: "proxy_refused", httpStatus: null };

let server: ReceivingServer;
let opened: { stop(): Promise<void> }[];
beforeEach(async () => {
  server = await startReceivingServer();
  opened = [server];
});
afterEach(async () => {
  for (const each of opened.toReversed()) await each.stop();
});

async function startProxy(answer: (target: string, number: number) => ConnectAnswer = () => server): Promise<ConnectProxy> {
  const proxy = await startConnectProxy(answer);
  opened.push(proxy);
  return proxy;
}

async function startDns(lookup: Parameters<typeof startDnsServer>[0]): Promise<DnsServer> {
  const dns = await startDnsServer(lookup);
  opened.push(dns);
  return dns;
}

/** Resolves every name to public addresses. */
const publicDns = (): Promise<DnsServer> => startDns((_, type) => (type === "A" ? [PUBLIC_V4] : [PUBLIC_V6]));

function agentThrough(url: string, mode: EgressProxyMode, options: Partial<ReceiverAgentOptions> = {}): ReceiverAgent {
  const proxy = { address: parseEgressProxy(url), mode };
  const agent = new ReceiverAgent({ allowLoopback: false, connectionsMax: 10, proxy, ...options });
  opened.push(agent);
  return agent;
}

const post = (agent: ReceiverAgent, url: string, deadlineMs = 20_000) =>
  attemptPost(agent, { url, headers: {}, body: Buffer.from("{}"), deadlineMs });

it("in mode address, asks the proxy for a resolved, public address, and sends the name to the receiver", async () => {
  const [proxy, dns] = [await startProxy(), await publicDns()];
  const agent = agentThrough(proxy.url, "address", { dnsServers: [dns.address] });
  expect(await post(agent, "http://receiver.example/hook")).toMatchObject({ kind: "accepted", httpStatus: 204 });
  expect(proxy.targets).toEqual([`${PUBLIC_V4}:80`]);
  expect(server.requests[0]?.headers.host).toBe("receiver.example");
});

it("in mode name, hands the name over and asks no resolver", async () => {
  const [proxy, dns] = [await startProxy(), await publicDns()];
  const agent = agentThrough(proxy.url, "name", { dnsServers: [dns.address] });
  expect(await post(agent, "http://receiver.example:8443/hook")).toMatchObject({ kind: "accepted" });
  expect(proxy.targets).toEqual(["receiver.example:8443"]);
  expect(dns.questions).toEqual([]);
});

it.each(["address", "name"] as const)(
  "in mode %s, refuses literals that are not public, and this machine, before the proxy is asked",
  async (mode) => {
    const proxy = await startProxy();
    const agent = agentThrough(proxy.url, mode);
    for (const host of [
      "127.0.0.1",
      "10.0.0.1",
      "169.254.169.254",
      "2130706433",
      "[::1]",
      "[::ffff:10.0.0.1]",
      "localhost",
      "a.localhost",
    ]) {
      expect(await post(agent, `https://${host}/`)).toMatchObject({ kind: "forbidden_address" });
      const request = { origin: `https://${host}`, path: "/", method: "POST", body: "{}" } as const;
      expect(await agent.send(request, 2_000)).toMatchObject({ error: { code: "FORBIDDEN_ADDRESS" } });
    }
    expect(proxy.targets).toEqual([]);
  },
);

it.each([PUBLIC_V4, `[${PUBLIC_V6}]`])("passes the public literal %s on in both modes", async (host) => {
  const proxy = await startProxy();
  for (const mode of ["address", "name"] as const) {
    expect(await post(agentThrough(proxy.url, mode), `http://${host}:8080/`)).toMatchObject({ kind: "accepted" });
  }
  expect(proxy.targets).toEqual([`${host}:8080`, `${host}:8080`]);
});

it("in mode address, resolves a name again once a connection has reached its age, and tells the proxy of no private address", async () => {
  const proxy = await startProxy();
  let addresses = [PUBLIC_V4];
  const dns = await startDns((_, type) => (type === "A" ? addresses : []));
  const agent = agentThrough(proxy.url, "address", { dnsServers: [dns.address], connectionMsMax: 1 });
  const url = "http://receiver.example/";
  expect(await post(agent, url)).toMatchObject({ kind: "accepted" });
  addresses = ["198.41.0.5"];
  await eventually(async () => {
    expect(await post(agent, url)).toMatchObject({ kind: "accepted" });
    expect(proxy.targets).toContain("198.41.0.5:80");
  });
  addresses = ["10.0.0.1"];
  await eventually(async () => expect(await post(agent, url)).toMatchObject({ kind: "forbidden_address" }));
  expect(new Set(proxy.targets)).toEqual(new Set([`${PUBLIC_V4}:80`, "198.41.0.5:80"]));
});

it("in mode name, has the proxy look a name up again once a connection has reached its age", async () => {
  const proxy = await startProxy();
  const agent = agentThrough(proxy.url, "name", { connectionMsMax: 1 });
  await eventually(async () => {
    expect(await post(agent, "http://receiver.example/")).toMatchObject({ kind: "accepted" });
    expect(proxy.targets.length).toBeGreaterThan(2);
  });
});

it("asks for the next address if the proxy cannot reach the first", async () => {
  const [proxy, dns] = [
    await startProxy((_, number) => (number === 1 ? { response: "HTTP/1.1 504 \r\n\r\n" } : server)),
    await publicDns(),
  ];
  const agent = agentThrough(proxy.url, "address", { dnsServers: [dns.address] });
  expect(await post(agent, "http://receiver.example/")).toMatchObject({ kind: "accepted" });
  expect(proxy.targets).toEqual([`${PUBLIC_V4}:80`, `[${PUBLIC_V6}]:80`]);
});

it("sends the URL's user and password, to the proxy only", async () => {
  const proxy = await startProxy();
  const agent = agentThrough(proxy.url.replace("//", "//web%20hook:p%40ss@"), "name");
  expect(await post(agent, "http://receiver.example/")).toMatchObject({ kind: "accepted" });
  expect(proxy.credentials).toEqual([`Basic ${Buffer.from("web hook:p@ss").toString("base64")}`]);
  expect(server.requests[0]?.headers).not.toHaveProperty("proxy-authorization");
});

it.each([
  [403, "HTTP/1.1 403 Forbidden\r\n\r\nno", "proxy_refused", "PROXY_403"],
  [407, "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n", "proxy_refused", "PROXY_407"],
  [302, "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n\r\n", "proxy_refused", "PROXY_302"],
  [503, "HTTP/1.1 503 Service Unavailable\r\n\r\n", "proxy_refused", "PROXY_503"],
  ["503 of Squid for a target", "HTTP/1.1 503 x\r\nX-Squid-Error: ERR_CONNECT_FAIL 111\r\n\r\n", "connect", "PROXY_TARGET_503"],
  [502, "HTTP/1.1 502 Bad Gateway\r\n\r\n", "connect", "PROXY_TARGET_502"],
  [504, "HTTP/1.1 504 Gateway Timeout\r\n\r\n", "connect", "PROXY_TARGET_504"],
  ["what is not HTTP", "SSH-2.0-OpenSSH\r\n", "proxy_refused", "PROXY_HPE_"],
  ["nothing", "", "proxy_refused", "PROXY_ECONNRESET"],
])("when the proxy responds with %s", async (_, response, kind, code) => {
  const proxy = await startProxy(() => ({ response }));
  const result = await post(agentThrough(proxy.url, "name"), "https://receiver.example/");
  expect(result).toMatchObject({ kind, httpStatus: null, error: expect.stringContaining(code) });
  expect(proxy.targets).toHaveLength(1);
});

it("when the proxy is down, and when its name cannot be resolved", async () => {
  const proxy = await startConnectProxy(() => server);
  await proxy.stop();
  expect(await post(agentThrough(proxy.url, "name"), "https://receiver.example/")).toMatchObject(REFUSED);
  expect(await post(agentThrough("http://proxy.invalid:3128", "name"), "https://receiver.example/")).toMatchObject(REFUSED);
});

it("distinguishes a proxy that hangs from a receiver that does: meanwhile a working proxy opens other connections", async () => {
  const proxy = await startProxy((target) => (target.startsWith("dead") ? { handle: () => {} } : server));
  const agent = agentThrough(proxy.url, "name", { proxyMsMax: 1_000 });
  expect(await post(agent, "https://dead.example/")).toMatchObject({ ...REFUSED, error: expect.stringContaining("PROXY_TIMEOUT") });
  const dead = post(agent, "https://dead.example/");
  await eventually(() => expect(proxy.targets).toHaveLength(2));
  expect(await post(agent, "http://receiver.example/")).toMatchObject({ kind: "accepted" });
  expect(await dead).toMatchObject({ kind: "connect", error: expect.stringContaining("PROXY_TARGET_TIMEOUT") });
});

describe("with TLS through the tunnel", () => {
  let folder: string;
  const authorities = getCACertificates("default");
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "egress-proxy-test-"));
    const subject = ["-subj", "/CN=receiver.example", "-addext", "subjectAltName=DNS:receiver.example"];
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "key.pem"];
    execFileSync("openssl", ["req", "-x509", ...subject, ...key, "-out", "cert.pem", "-days", "1"], { cwd: folder, stdio: "ignore" });
    setDefaultCACertificates([...authorities, readFileSync(join(folder, "cert.pem"), "utf8")]);
  });
  afterAll(() => {
    setDefaultCACertificates(authorities);
    rmSync(folder, { recursive: true });
  });

  /** Starts a receiver with the certificate of receiver.example. */
  async function startTlsReceiver(onRequest: (socket: Socket, number: number) => void): Promise<{ port: number; connections: number }> {
    const started = { port: 0, connections: 0 };
    const sockets = new Set<Socket>();
    const pem = (name: string) => readFileSync(join(folder, name));
    const receiver = createServer({ key: pem("key.pem"), cert: pem("cert.pem") }, (socket) => {
      started.connections += 1;
      let number = 0;
      sockets.add(socket);
      socket.on("error", () => {});
      // A request of this test is one chunk or two: its body ends it.
      socket.on("data", (chunk: Buffer) => {
        if (chunk.toString().endsWith("{}")) onRequest(socket, (number += 1));
      });
    });
    receiver.on("tlsClientError", () => {});
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    started.port = (receiver.address() as { port: number }).port;
    opened.push({
      async stop() {
        for (const socket of sockets) socket.destroy();
        await new Promise((resolve) => receiver.close(resolve));
      },
    });
    return started;
  }

  it.each(["address", "name"] as const)("in mode %s, checks the certificate against the name in the URL", async (mode) => {
    const receiver = await startTlsReceiver((socket) => socket.write(NO_CONTENT));
    const [proxy, dns] = [await startProxy(() => receiver), await publicDns()];
    const agent = agentThrough(proxy.url, mode, { dnsServers: [dns.address] });
    expect(await post(agent, "https://receiver.example/")).toMatchObject({ kind: "accepted", httpStatus: 204 });
    expect(await post(agent, "https://other.example/")).toMatchObject({ kind: "tls", error: expect.stringContaining("ALTNAME") });
  });

  it("keeps the tunnel alive for later requests, and opens another if it closes just as it is used", async () => {
    const receiver = await startTlsReceiver((socket, number) => (number < 3 ? socket.write(NO_CONTENT) : socket.destroy()));
    const proxy = await startProxy(() => receiver);
    const agent = agentThrough(proxy.url, "name", { connectionsMax: 1 });
    const outcomes: string[] = [];
    for (let request = 0; request < 4; request += 1) outcomes.push((await post(agent, "https://receiver.example/")).kind);
    expect(outcomes).toEqual(["accepted", "accepted", "accepted", "accepted"]);
    // The third request is repeated on a connection that is then closed; the fourth opens its own.
    expect(proxy.targets).toHaveLength(3);
  });

  it.each<[string, (socket: Socket) => void]>([
    ["after it opened the tunnel", (socket) => socket.end("HTTP/1.1 200 OK\r\n\r\n")],
    ["with a reset after it opened the tunnel", (socket) => void socket.write("HTTP/1.1 200 OK\r\n\r\n", () => socket.resetAndDestroy())],
  ])("fails the attempt as closed if the proxy closes %s", async (_, handle) => {
    const proxy = await startProxy(() => ({ handle }));
    expect(await post(agentThrough(proxy.url, "name"), "https://receiver.example/")).toMatchObject({ kind: "closed", httpStatus: null });
  });
});

it("retries what the proxy refused, without a failure of the receiver", async () => {
  const sending = await serveSending();
  try {
    const proxy = await startProxy(() => ({ response: "HTTP/1.1 403 Forbidden\r\n\r\n" }));
    const receiver = await sending.createReceiver("https://receiver.example/hook");
    await sending.deliver([receiver], 12);
    sending.start({ retryDelaysSeconds: [3_600] }, { proxy: { address: parseEgressProxy(proxy.url), mode: "name" } });
    await eventually(async () => expect(await sending.attemptsOf(receiver)).toHaveLength(12));
    const lane = "select failures, failed_in_a_row, trips, max_in_flight, last_outcome from webhook.lanes";
    await eventually(async () =>
      expect(await sending.db.query(lane)).toEqual([
        { failures: 0, failed_in_a_row: 0, trips: 0, max_in_flight: 8, last_outcome: "proxy_refused" },
      ]),
    );
    expect(await sending.db.query("select distinct state, due_at > now() as later from webhook.deliveries")).toEqual([
      { state: "pending", later: true },
    ]);
  } finally {
    await sending.stop();
  }
});
