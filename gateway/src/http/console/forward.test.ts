import { once } from "node:events";
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { eventually } from "@brand-records/testkit";
import { serveForwarding, untilClosed, type ServedForwarding } from "../../../test/serve-forwarding.ts";
import { type ConsoleRequest, type ConsoleResponse, ConsoleUpstream } from "./upstream.ts";

/** One promise: the console's paths reach its process, framed by the gateway alone; what ends on one side ends on the other. */

let consoleProcess: Server;
let upstream: ConsoleUpstream;
let gateway: ServedForwarding;
let url: string;
let handle: (request: IncomingMessage, response: ServerResponse) => void;
const received: IncomingMessage[] = [];

beforeAll(async () => {
  consoleProcess = createServer((incoming, response) => {
    received.push(incoming);
    handle(incoming, response);
  });
  await listen(consoleProcess);
  upstream = new ConsoleUpstream(`127.0.0.1:${portOf(consoleProcess)}`, undefined);
  gateway = await serveForwarding(upstream);
  ({ url } = gateway);
});
beforeEach(() => {
  received.splice(0);
  handle = (_incoming, response) => void response.end("console");
});
afterEach(() => gateway.disconnect());
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
  consoleProcess.close();
  consoleProcess.closeAllConnections();
});

const listen = (server: Server): Promise<unknown> => once(server.listen(0, "127.0.0.1"), "listening");
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** Reads the bodies that arrive at the console. */
function collectBodies(): string[] {
  const bodies: string[] = [];
  handle = (incoming, response) => {
    let body = "";
    incoming.on("data", (chunk: Buffer) => (body += chunk.toString()));
    incoming.on("end", () => {
      bodies.push(body);
      response.end("console");
    });
  };
  return bodies;
}

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

it("drops Authorization, forged X-Forwarded headers and what is not on its list; passes cookie, host, request id, and what a browser says of the request", async () => {
  const headers = {
    cookie: "a=b",
    "x-forwarded-for": "1.2.3.4, 203.0.113.9",
    "x-forwarded-proto": "gopher",
    "x-request-id": "req-1",
    "sec-fetch-dest": "image",
    "sec-fetch-site": "cross-site",
    "sec-purpose": "prefetch",
  };
  const dropped = {
    authorization: "Bearer brk_live_x",
    "x-real-ip": "1.2.3.4",
    "x-http-method-override": "DELETE",
    te: "trailers",
    forwarded: "for=1.2.3.4",
    range: "bytes=0-1",
  };
  await fetch(`${url}/console/x`, { headers: { ...headers, ...dropped } });
  const { headers: forwarded } = received[0] as IncomingMessage;
  expect(forwarded).toMatchObject({
    cookie: "a=b",
    host: new URL(url).host,
    "x-forwarded-proto": "https",
    "x-request-id": "req-1",
    "sec-fetch-dest": "image",
    // fetch's own.
    "sec-fetch-mode": "cors",
    "sec-fetch-site": "cross-site",
    "sec-purpose": "prefetch",
  });
  expect(forwarded["x-forwarded-for"]).toBe("203.0.113.9");
  for (const name of Object.keys(dropped)) expect(forwarded).not.toHaveProperty(name);
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

describe("a request body", () => {
  const SMUGGLED = "POST /console/api/receivers.delete HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}";

  it.each(["GET", "HEAD", "DELETE", "OPTIONS", "TRACE", "PUT", "PATCH"])("of %s is refused, and the connection closed", async (method) => {
    const framings = [`Content-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`, `Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`];
    for (const framing of framings) {
      const response = await untilClosed(gateway.send(`${method} /developers HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n${framing}`));
      expect(response).toMatch(/^HTTP\/1\.1 400 /);
      expect(response).toContain("Connection: close");
    }
    expect(received).toEqual([]);
  });

  it.each(["content-length", "transfer-encoding", "content-length, cookie, host"])(
    "keeps its frame if the client names %s in Connection",
    async (names) => {
      const bodies = collectBodies();
      const headers = `Host: x\r\nCookie: session=1\r\nConnection: close, ${names}\r\nContent-Length: ${SMUGGLED.length}`;
      await untilClosed(gateway.send(`POST /console/api/x HTTP/1.1\r\n${headers}\r\n\r\n${SMUGGLED}`));
      expect(bodies).toEqual([SMUGGLED]);
      expect(received[0]?.headers).toMatchObject({ cookie: "session=1", host: "x", "content-length": String(SMUGGLED.length) });
    },
  );

  it("is sent whole and with its length, once it has arrived", async () => {
    const bodies = collectBodies();
    const sending = request(`${url}/console/api/x`, { method: "POST" });
    const answered = once(sending, "response");
    sending.write("one");
    await new Promise((resolve) => sending.write(" two", resolve));
    expect(await (await fetch(`${url}/sign-in`)).text()).toBe("console");
    expect(received.map(({ url: path }) => path)).toEqual(["/sign-in"]);
    sending.end(" three");
    const [response] = (await answered) as [IncomingMessage];
    response.resume();
    expect(bodies).toEqual(["", "one two three"]);
    expect(received[1]?.headers).toMatchObject({ "content-length": "13" });
    expect(received[1]?.headers).not.toHaveProperty("transfer-encoding");
  });

  it("that a page of another site sends is not read, so that it takes nothing from the network's memory", async () => {
    const send = (site: string): Promise<string> =>
      untilClosed(gateway.send(`POST /console/api/x HTTP/1.1\r\nHost: x\r\nSec-Fetch-Site: ${site}\r\nContent-Length: 700000\r\n\r\n{`));
    for (const site of ["cross-site", "same-site", "none"]) expect(await send(site)).toMatch(/^HTTP\/1\.1 403 [^]*origin_not_allowed/);
    expect(received).toEqual([]);
  });

  it("over 768 KiB is refused", async () => {
    const response = await fetch(`${url}/console/api/x`, { method: "POST", body: "x".repeat(768 * 1024 + 1) });
    expect([response.status, await response.json()]).toMatchObject([413, { error: { code: "payload_too_large" } }]);
    expect(received).toEqual([]);
  });

  it("that does not arrive occupies no connection: 300 of them leave a page as it is", async () => {
    const bodies = Array.from({ length: 300 }, () =>
      gateway.send("POST /console/api/x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{"),
    );
    await Promise.all(bodies.map((socket) => once(socket, "connect")));
    expect(await (await fetch(`${url}/developers`)).text()).toBe("console");
    expect(received).toHaveLength(1);
  });

  it("that breaks off while the console fails ends no process", async () => {
    handle = (incoming) => void incoming.socket.destroy();
    for (let n = 0; n < 20; n += 1) {
      const socket = gateway.send("POST /sign-in HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{");
      await once(socket, "connect");
      socket.resetAndDestroy();
    }
    handle = (_incoming, response) => void response.end("console");
    expect(await (await fetch(`${url}/developers`)).text()).toBe("console");
  });
});

it.each([
  ["Trailer", "Trailer: a\r\nTransfer-Encoding: chunked"],
  ["Upgrade", "Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 0"],
])("refuses %s, and closes the connection", async (_, headers) => {
  const response = await untilClosed(gateway.send(`POST /sign-in HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n0\r\na: b\r\n\r\n`));
  expect(response).toMatch(/^HTTP\/1\.1 400 /);
  expect(response).toContain("Connection: close");
  expect(received).toEqual([]);
});

it("sends path and query of a request that names the whole URL", async () => {
  await untilClosed(
    gateway.send("GET http://records.example/developers/keys?a=1 HTTP/1.1\r\nHost: records.example\r\nConnection: close\r\n\r\n"),
  );
  expect(received[0]?.url).toBe("/developers/keys?a=1");
});

it("responds 503 if the console dies within a response, and goes on", async () => {
  handle = (incoming, response) => {
    response.writeHead(200, { "content-length": "100" }).write("half", () => incoming.socket.destroy());
  };
  expect((await fetch(`${url}/developers`)).status).toBe(503);
  handle = (_incoming, response) => void response.end("console");
  expect(await (await fetch(`${url}/developers`)).text()).toBe("console");
});

it("refuses with 429 what a network sends beyond its requests in flight and waiting, and serves others", async () => {
  const held: ServerResponse[] = [];
  handle = (_incoming, response) => void held.push(response);
  const get = (address: string) => fetch(`${url}/developers`, { headers: { "x-forwarded-for": address } });
  const statuses: number[] = [];
  const busy = Array.from({ length: 64 + 256 + 10 }, async (_, n) => {
    const response = await get(`2001:db8::${n.toString(16)}`);
    statuses.push(response.status);
    return response.headers.get("retry-after");
  });
  await eventually(() => expect([held.length, statuses]).toEqual([64, Array.from({ length: 10 }, () => 429)]));
  handle = (_incoming, response) => void response.end("console");
  expect(await (await get("2001:db8:0:1::1")).text()).toBe("console");
  for (const response of held) response.end();
  expect((await Promise.all(busy)).filter((seconds) => seconds === "2")).toHaveLength(10);
  expect(statuses.filter((status) => status === 200)).toHaveLength(64 + 256);
});

it("ends the console's request if the client disconnects", async () => {
  let isEnded = false;
  handle = (incoming) => void incoming.once("close", () => (isEnded = true));
  const client = gateway.send("GET /console/x HTTP/1.1\r\nHost: x\r\n\r\n");
  await eventually(() => expect(received.length).toBe(1));
  client.resetAndDestroy();
  await eventually(() => expect(isEnded).toBe(true));
});

describe("a read whose connection the console closes", () => {
  const breakFirst = (): void => {
    let isFirst = true;
    handle = (incoming, response) => {
      if (isFirst) incoming.socket.destroy();
      else response.end("again");
      isFirst = false;
    };
  };

  it("is sent again if the connection was kept from an earlier one", async () => {
    await (await fetch(`${url}/sign-in`)).text();
    breakFirst();
    expect(await (await fetch(`${url}/sign-in`)).text()).toBe("again");
  });

  it("is not sent again under /auth, where it uses up a code", async () => {
    await (await fetch(`${url}/sign-in`)).text();
    breakFirst();
    expect((await fetch(`${url}/auth/callback?code=1`)).status).toBe(503);
    expect(received.map(({ url: path }) => path)).toEqual(["/sign-in", "/auth/callback?code=1"]);
  });

  it("is not sent again if it ends every console that reads it", async () => {
    handle = (incoming) => void incoming.socket.destroy();
    await fetch(`${url}/sign-in`);
    received.splice(0);
    expect((await fetch(`${url}/sign-in`)).status).toBe(503);
    expect(received).toHaveLength(1);
  });
});

describe("a file of a page, while processes of two releases serve", () => {
  const NEW = ["app-00000new.js", "style-00000new.css", "icon-00000new.svg"];
  const path = `/console/assets/${NEW[0]}`;
  let served: ServedForwarding;
  let connections: Set<unknown>;

  type Process = typeof handle;
  const processWith =
    (...files: string[]): Process =>
    ({ url: asked = "" }, response) => {
      const [, name] = asked.split("/console/assets/");
      if (name === "") response.end(JSON.stringify(files));
      else if (name !== undefined && files.includes(name)) response.writeHead(200, { "content-type": "text/javascript" }).end(name);
      else response.writeHead(404).end("not found");
    };
  const [oldProcess, newProcess] = [processWith("app-00000old.js"), processWith(...NEW)];
  const ending: Process = (_incoming, { socket }) => void socket?.destroy();
  /** As a balancer gives connections to processes, one after the other; a request on a kept connection stays with its process. */
  const balance = (...processes: Process[]): void => {
    const ofConnection = new Map<unknown, Process | undefined>();
    handle = (incoming, response) => {
      connections.add(incoming.socket);
      const own = ofConnection.get(incoming.socket) ?? processes[ofConnection.size % processes.length];
      ofConnection.set(incoming.socket, own);
      own?.(incoming, response);
    };
  };

  const all: ServedForwarding[] = [];
  beforeEach(async () => {
    connections = new Set();
    // Remembers nothing of another test.
    served = await serveForwarding(upstream);
    all.push(served);
  });
  // A stop waits for connections that are kept.
  afterAll(() => Promise.all(all.map((each) => each.stop())));

  it("comes from whichever process has it", async () => {
    balance(oldProcess, oldProcess, newProcess);
    const files = await Promise.all(NEW.map(async (name) => (await fetch(`${served.url}/console/assets/${name}`)).text()));
    expect(files).toEqual(NEW);
  });

  it("comes with its headers, and leaves no connection but those kept for pages", async () => {
    balance(oldProcess, newProcess);
    const response = await fetch(`${served.url}${path}`);
    expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([200, "text/javascript", NEW[0]]);
    expect(connections.size).toBeGreaterThan(15);
    const open = () => [...connections].filter((socket) => !(socket as Socket).destroyed).length;
    await eventually(() => expect(open()).toBeLessThanOrEqual(1));
  });

  it("is looked for further if a process ends meanwhile", async () => {
    balance(oldProcess, ending, ending, newProcess);
    expect((await fetch(`${served.url}${path}`)).status).toBe(200);
  });

  it.each([
    ["HEAD", path],
    ["GET", "/console/x"],
    ["GET", "/developers"],
    ["GET", "/console/assets/x.js"],
  ])("is what is looked for: not %s %s", async (method, other) => {
    balance(oldProcess);
    expect((await fetch(`${served.url}${other}`, { method })).status).toBe(404);
    expect(received).toHaveLength(1);
  });
});

it("returns a page to a browser and JSON to the console's script while the console is away", async () => {
  handle = (incoming) => void incoming.socket.destroy();
  const page = await fetch(`${url}/developers`, { headers: { accept: "text/html,*/*" } });
  expect([page.status, page.headers.get("content-type"), page.headers.get("retry-after")]).toEqual([503, "text/html; charset=utf-8", "2"]);
  expect(await page.text()).toContain("The console is unavailable");
  const call = await fetch(`${url}/console/api/session.me`, { method: "POST", body: "{}" });
  expect([call.status, await call.json()]).toMatchObject([503, { error: { code: "unavailable" } }]);
});

it("serves a page while one network reads none of 70 scripts, and gives up those that have waited longest", async () => {
  /** More than the kernel's buffers hold for a client. */
  const large = Buffer.alloc(8 * 1024 * 1024 - 1_024, "x");
  let asked = 0;
  const respond = async ({ path }: ConsoleRequest): Promise<ConsoleResponse> => {
    asked += 1;
    return { statusCode: 200, headers: {}, body: path === "/developers" ? Buffer.from("console") : large };
  };
  const served = await serveForwarding({ request: respond, requestElsewhere: respond });
  // More than one network may have in flight.
  const sockets = Array.from({ length: 70 }, () => served.send("GET /console/assets/x HTTP/1.1\r\nHost: x\r\n\r\n").pause());
  await eventually(() => expect(asked).toBe(70));
  expect(await (await fetch(`${served.url}/developers`)).text()).toBe("console");
  const isWhole = (socket: Socket): Promise<boolean> =>
    new Promise((resolve) => {
      let bytes = 0;
      socket.on("data", (chunk: Buffer) => (bytes += chunk.length) > large.length && resolve(true));
      socket.once("close", () => resolve(false)).resume();
    });
  // 64 MiB are eight of them.
  expect((await Promise.all(sockets.map(isWhole))).filter(Boolean)).toHaveLength(8);
  await served.stop();
});
