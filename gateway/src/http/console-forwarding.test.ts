import { once } from "node:events";
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { countServerErrors } from "@brand-records/rpc";
import { openMetrics } from "@brand-records/telemetry";
import { eventually } from "@brand-records/testkit";
import express from "express";
import { errorHandler } from "./errors.ts";
import { forwardToConsole } from "./console-forwarding.ts";
import { requestContext } from "./request-context.ts";

/** One promise: the console's paths reach its process and no other path does; what ends on one side ends on the other. */

let consoleProcess: Server;
let gateway: Server;
let url: string;
let handle: (request: IncomingMessage, response: ServerResponse) => void;
const received: IncomingMessage[] = [];

beforeAll(async () => {
  consoleProcess = createServer((incoming, response) => {
    received.push(incoming);
    handle(incoming, response);
  });
  const app = express();
  await listen(consoleProcess);
  app.use(requestContext(5_000));
  app.use(
    forwardToConsole({ address: `127.0.0.1:${portOf(consoleProcess)}`, certificates: undefined, publicUrl: "https://records.example" }),
  );
  app.use((_request, response) => void response.status(404).end("gateway"));
  app.use(errorHandler(countServerErrors(openMetrics("gateway"))));
  gateway = createServer(app);
  await listen(gateway);
  url = `http://127.0.0.1:${portOf(gateway)}`;
});
beforeEach(() => {
  received.splice(0);
  handle = (_incoming, response) => void response.end("console");
});
afterAll(() => {
  for (const server of [gateway, consoleProcess]) {
    server.close();
    server.closeAllConnections();
  }
});

const listen = (server: Server): Promise<unknown> => once(server.listen(0, "127.0.0.1"), "listening");
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

it.each(["/", "/sign-in", "/auth/callback?code=1", "/console/api/session.me", "/developers/keys", "/workspaces"])(
  "forwards %s",
  async (path) => {
    expect(await (await fetch(`${url}${path}`)).text()).toBe("console");
    expect(received[0]?.url).toBe(path);
  },
);

it.each(["/docs", "/api/v1/campaigns", "/developersx", "/Developers", "/openapi/service.yaml"])("keeps %s", async (path) => {
  expect(await (await fetch(`${url}${path}`)).text()).toBe("gateway");
});

it("drops Authorization and forged X-Forwarded headers, and passes the cookie, the host and the request id", async () => {
  const headers = {
    authorization: "Bearer brk_live_x",
    cookie: "a=b",
    "x-forwarded-for": "1.2.3.4",
    "x-forwarded-proto": "gopher",
    "x-request-id": "req-1",
  };
  await fetch(`${url}/console/x`, { headers });
  const { headers: forwarded } = received[0] as IncomingMessage;
  expect(forwarded).toMatchObject({ cookie: "a=b", host: new URL(url).host, "x-forwarded-proto": "https", "x-request-id": "req-1" });
  expect(forwarded["x-forwarded-for"]).toContain("127.0.0.1");
  expect(forwarded["x-forwarded-for"]).not.toContain("1.2.3.4");
  expect(forwarded).not.toHaveProperty("authorization");
});

it("returns status, headers and several cookies of the console as they are", async () => {
  handle = (_incoming, response) =>
    void response.writeHead(418, { "set-cookie": ["a=1", "b=2"], "content-security-policy": "x" }).end("no");
  const response = await fetch(`${url}/sign-in`);
  expect([response.status, response.headers.getSetCookie(), response.headers.get("content-security-policy")]).toEqual([
    418,
    ["a=1", "b=2"],
    "x",
  ]);
});

it("streams a body as it arrives", async () => {
  const first = new Promise<string>((resolve) => {
    handle = (incoming, response) => {
      incoming.once("data", (chunk: Buffer) => resolve(chunk.toString()));
      incoming.on("end", () => response.end("done"));
    };
  });
  const sending = request(`${url}/console/api/x`, { method: "POST" });
  const answered = once(sending, "response");
  sending.write("one");
  expect(await first).toBe("one");
  sending.end("two");
  const [response] = (await answered) as [IncomingMessage];
  response.resume();
  expect(response.statusCode).toBe(200);
});

it("ends the console's request if the client disconnects", async () => {
  let isEnded = false;
  handle = (incoming) => void incoming.once("close", () => (isEnded = true));
  const client = request(`${url}/console/api/x`);
  client.on("error", () => {});
  client.end();
  await eventually(() => expect(received).toHaveLength(1));
  client.destroy();
  await eventually(() => expect(isEnded).toBe(true));
});

it("sends a read again if the console closed the kept connection meanwhile", async () => {
  await (await fetch(`${url}/sign-in`)).text();
  let isFirst = true;
  handle = (incoming, response) => {
    if (isFirst) incoming.socket.destroy();
    else response.end("again");
    isFirst = false;
  };
  expect(await (await fetch(`${url}/sign-in`)).text()).toBe("again");
});

it("returns a page to a browser and JSON to the console's script while the console is away", async () => {
  handle = (incoming) => void incoming.socket.destroy();
  const page = await fetch(`${url}/developers`, { headers: { accept: "text/html,*/*" } });
  expect([page.status, page.headers.get("content-type"), page.headers.get("retry-after")]).toEqual([503, "text/html; charset=utf-8", "2"]);
  expect(await page.text()).toContain("The console is unavailable");
  const call = await fetch(`${url}/console/api/session.me`, { method: "POST", body: "{}" });
  expect([call.status, await call.json()]).toMatchObject([503, { error: { code: "unavailable" } }]);
});
