import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CertificateAuthority,
  eventually,
  startConnectProxy,
  startDnsServer,
  type ConnectProxy,
  type DnsServer,
} from "@brand-records/testkit";
import { Webhook } from "standardwebhooks";
import { publishEvents } from "../publish-events.ts";
import { callContext, startStack, type Stack, type TestBrand } from "../stack.ts";

/** One promise: with EGRESS_PROXY_URL, webhook's deliveries pass the proxy, signed, and wait while it is away. */

const PUBLIC = "198.41.0.4";
const PASSWORD = "p@ss:w0rd/hunter2";
const AUTHORIZATION = `Basic ${Buffer.from(`webhook:${PASSWORD}`).toString("base64")}`;

let folder: string;
let receiver: Server;
let dns: DnsServer;
let proxy: ConnectProxy;
let stack: Stack;
let brand: TestBrand;
const requests: { headers: IncomingHttpHeaders; body: string }[] = [];
/** The stack reads it at each start of webhook. */
const webhookEnv: Record<string, string> = {};

const startProxy = (port?: number): Promise<ConnectProxy> =>
  startConnectProxy(() => ({ port: (receiver.address() as AddressInfo).port }), port);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "egress-"));
  const { cert, key, ca } = new CertificateAuthority(folder).issue("receiver", { names: ["DNS:receiver.example"] });
  receiver = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      requests.push({ headers: request.headers, body });
      response.writeHead(204).end();
    });
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  dns = await startDnsServer((_, type) => (type === "A" ? [PUBLIC] : []));
  proxy = await startProxy();
  Object.assign(webhookEnv, {
    EGRESS_PROXY_URL: proxy.url.replace("//", `//webhook:${encodeURIComponent(PASSWORD)}@`),
    RECEIVER_DNS_SERVERS: dns.address,
    NODE_EXTRA_CA_CERTS: ca,
    RETRY_DELAYS_SECONDS: Array.from({ length: 100 }, () => "0.2").join(","),
  });
  stack = await startStack({ envOf: { webhook: webhookEnv } });
  brand = await stack.createBrand();
});
afterAll(async () => {
  await stack?.stop();
  await proxy?.stop();
  await dns?.stop();
  receiver.closeAllConnections();
  receiver.close();
  rmSync(folder, { recursive: true });
});

it.each([
  ["address", `${PUBLIC}:443`],
  ["name", "receiver.example:443"],
])("in mode %s, asks the proxy for %s, and delivers once a proxy that was away is back", async (mode, target) => {
  webhookEnv["EGRESS_PROXY_MODE"] = mode;
  await stack.processes.webhook.kill();
  await stack.restart("webhook");
  requests.splice(0);
  const { id: receiverId, secret } = await stack.addReceiver(brand, `https://receiver.example/${mode}`, ["payout.paid"]);
  const publish = async (): Promise<string> =>
    (await publishEvents(stack, brand.id, [{ type: "payout.paid", at: Date.now() }]))[0]?.id ?? "";
  const deliveryOf = async (eventId: string) => {
    const { deliveries } = await stack.deliveries.listDeliveries(
      { brand_id: brand.id, receiver_id: receiverId, page_size: 200, states: [], event_id: eventId },
      callContext(),
    );
    return deliveries[0];
  };

  const first = await publish();
  await eventually(async () =>
    expect(await deliveryOf(first)).toMatchObject({ state: "delivered", last_outcome: "accepted", attempts: 1 }),
  );
  const [request] = requests;
  expect(new Webhook(secret).verify(request?.body ?? "", request?.headers as Record<string, string>)).toMatchObject({
    id: first,
  });
  expect([proxy.targets.at(-1), proxy.credentials.at(-1)]).toEqual([target, AUTHORIZATION]);
  expect(request?.headers).toMatchObject({ host: "receiver.example" });
  expect(request?.headers).not.toHaveProperty("proxy-authorization");

  const { port } = proxy;
  await proxy.stop();
  const second = await publish();
  await eventually(async () => expect(await deliveryOf(second)).toMatchObject({ state: "pending", last_outcome: "proxy_refused" }));
  expect(requests).toHaveLength(1);
  proxy = await startProxy(port);
  await eventually(async () => expect(await deliveryOf(second)).toMatchObject({ state: "delivered", last_outcome: "accepted" }), {
    timeoutMs: 20_000,
  });
  const third = await publish();
  await eventually(async () => expect(await deliveryOf(third)).toMatchObject({ state: "delivered", attempts: 1 }));
  expect(requests.map(({ body }) => (JSON.parse(body) as { id: string }).id)).toEqual([first, second, third]);
  expect(proxy.targets.every((each) => each === target)).toBe(true);
  expect(stack.processes.webhook.output()).not.toMatch(/hunter2/);
  await stack.receivers.deleteReceiver({ brand_id: brand.id, receiver_id: receiverId }, callContext());
});
