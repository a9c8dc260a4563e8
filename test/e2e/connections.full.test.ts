import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { eventually } from "@brand-records/testkit";
import { logOf, metricOf, type LogLine } from "../admin-port.ts";
import { planInput } from "../plan-input.ts";
import { rawRequest, untilClosed } from "../raw-http.ts";
import { seedBrand } from "../seed-brand.ts";
import { startStack, type Stack, type TestBrand } from "../stack.ts";

/** One promise: a connection follows HTTP, whatever its client does. */

/** Node keeps about 2 KB of each parsed request that waits. A gateway that keeps more than this ends: that, unlike the heap's size, does not depend on when garbage is collected. */
const GATEWAY_HEAP_MIB = 150;

let stack: Stack;
let brand: TestBrand;

beforeAll(async () => {
  const gateway = { NODE_OPTIONS: `--max-old-space-size=${GATEWAY_HEAP_MIB}`, KEEP_ALIVE_MS: "620000" };
  stack = await startStack({ env: { RATE_LIMIT_PLUS: "100000" }, envOf: { gateway } });
  brand = await stack.createBrand({ permissions: ["campaigns:prepare"] });
  await seedBrand(stack, brand.id);
});
afterAll(() => stack.stop());

const authorised = (extra = "", { key } = brand) => `Host: x\r\nAuthorization: Bearer ${key}\r\n${extra}\r\n`;
const get = (path: string, extra = "", by = brand) => `GET ${path} HTTP/1.1\r\n${authorised(extra, by)}`;
/** Requests that a brand may still make. Itself a request: of a brand that has made none before, no other leaves the window meanwhile. */
const remainingOf = async ({ key }: TestBrand): Promise<number> =>
  Number(/r=(\d+)/.exec((await stack.get("/api/v1/foo", key)).headers.get("ratelimit") ?? "")?.[1]);
const statusesOf = (received: string) => [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

function open(): Socket {
  const { hostname, port } = new URL(stack.url);
  return connect({ host: hostname, port: Number(port), allowHalfOpen: true }).on("error", () => {});
}

it("stays open while nothing is sent for as long as KEEP_ALIVE_MS says, which each response announces", async () => {
  const { headers } = await rawRequest(stack.url, [get("/api/v1/links")]);
  expect(headers).toMatchObject({ connection: "keep-alive", "keep-alive": "timeout=620" });
});

describe("a client that ends its side after its request", () => {
  const plan = () => JSON.stringify(planInput());
  const post = (body: string) =>
    `POST /api/v1/campaign-plans HTTP/1.1\r\n${authorised(`Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`)}${body}`;

  it("gets its response, and then the connection ends", async () => {
    const received = await untilClosed(stack.url, get("/api/v1/submissions?limit=200"), { halfClose: true });
    expect(statusesOf(received)).toEqual([200]);
    expect(JSON.parse(received.slice(received.indexOf("\r\n\r\n")))).toMatchObject({ count: 200 });
  });

  it("gets the plan that it requested", async () => {
    const received = await untilClosed(stack.url, post(plan()), { halfClose: true });
    expect(statusesOf(received)).toEqual([201]);
    expect(received).toContain("review_path");
  });

  it("gets a response to each pipelined request", async () => {
    const received = await untilClosed(stack.url, post(plan()) + get("/api/v1/links") + get("/api/v1/foo"), { halfClose: true });
    expect(statusesOf(received)).toEqual([201, 200, 404]);
  });

  it("in the middle of a body or of the headers gets 400", async () => {
    const body = plan();
    for (const bytes of [post(body).slice(0, -10), "GET /api/v1/links HTTP/1.1\r\nHost: x\r\nAuth"]) {
      const received = await untilClosed(stack.url, bytes, { halfClose: true });
      expect(statusesOf(received)).toEqual([400]);
      expect(received).toContain('"code":"invalid_request"');
    }
  });
});

it("logs 499 for a client that leaves while its request is handled, before the response is ready", async () => {
  const counted = await stack.createBrand();
  const { pid } = stack.processes.records;
  process.kill(pid, "SIGSTOP");
  try {
    const before = await remainingOf(counted);
    const socket = open();
    socket.write(get("/api/v1/payouts", "X-Request-Id: goes-away\r\n", counted));
    let asked = 0;
    // Once the request is counted, the gateway is waiting for its page.
    await eventually(async () => {
      const now = await remainingOf(counted);
      asked += 1;
      expect(before - now - asked).toBe(1);
    });
    socket.resetAndDestroy();
    const logged = (): LogLine[] => logOf(stack.gateways[0].process).filter(({ request_id }) => request_id === "goes-away");
    await eventually(() => expect(logged()).toContainEqual(expect.objectContaining({ status: 499 })));
  } finally {
    process.kill(pid, "SIGCONT");
  }
});

describe("the Host header", () => {
  const KEY = () => `Authorization: Bearer ${brand.key}\r\n`;

  it.each([
    ["no header", ""],
    ["two headers", "Host: x\r\nHost: y\r\n"],
    ["two equal headers", "Host: x\r\nhost: x\r\n"],
    ["an empty header", "Host:\r\n"],
    ["a space within", "Host: a b\r\n"],
    ["a path", "Host: x/y\r\n"],
    ["a user", "Host: me@x\r\n"],
    ["a list", "Host: x,y\r\n"],
    ["a port that is not a number", "Host: x:http\r\n"],
    ["an address without its end", "Host: [::1\r\n"],
    ["half a percent sign", "Host: x%2\r\n"],
    ["letters outside ASCII", "Host: b\u00e9\r\n"],
  ])("%s is invalid_request on every path", async (_, host) => {
    for (const [path, form] of [
      ["/api/v1/links", { error: { code: "invalid_request" } }],
      ["http://x/api/v1/links", { error: { code: "invalid_request" } }],
      ["/openapi/service.yaml", { error: { code: "invalid_request" } }],
      ["/api/mcp", { jsonrpc: "2.0", error: { data: { code: "invalid_request" } } }],
    ] as const) {
      const response = await rawRequest(stack.url, [Buffer.from(`GET ${path} HTTP/1.1\r\n${host}${KEY()}\r\n`, "latin1")]);
      expect({ path, status: response.status, body: JSON.parse(response.body) }).toMatchObject({ path, status: 400, body: form });
    }
  });

  it.each(["api.brand.example", "x:8080", "127.0.0.1", "[::1]:8080", "a_b.example.", "xn--bcher-kva.example"])(
    "%s is accepted",
    async (host) => {
      for (const path of ["/api/v1/links", `http://${host}/api/v1/links`]) {
        const { status } = await rawRequest(stack.url, [`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${KEY()}\r\n`]);
        expect({ path, status }).toEqual({ path, status: 200 });
      }
    },
  );

  it("may be missing in HTTP/1.0, but not repeated", async () => {
    const getWith = (host: string) => rawRequest(stack.url, [`GET /api/v1/links HTTP/1.0\r\n${host}${KEY()}\r\n`]);
    expect((await getWith("")).status).toBe(200);
    expect((await getWith("Host: x\r\nHost: x\r\n")).status).toBe(400);
  });
});

describe("an unwanted body", () => {
  const MEBIBYTE = Buffer.alloc(1024 * 1024, "x");
  const ANNOUNCED = 300;
  /** Both ends of a loopback connection buffer several MiB. */
  const TAKEN_MIB_MAX = 24;

  /** Sends a body as fast as the server reads it, and returns the response. */
  async function send(head: string, frame: (data: Buffer) => Buffer = (data) => data): Promise<{ text: string; takenMib: number }> {
    const socket = open();
    await once(socket, "connect");
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    const closed = once(socket, "close");
    socket.on("end", () => socket.destroy());
    socket.write(head);
    let takenMib = 0;
    const more = (): void => {
      if (takenMib === ANNOUNCED || socket.destroyed) return;
      socket.write(frame(MEBIBYTE), (error) => {
        if (error) return;
        takenMib += 1;
        more();
      });
    };
    more();
    await closed;
    return { text, takenMib };
  }
  const chunked = (data: Buffer): Buffer => Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from("\r\n")]);
  const length = `Content-Length: ${ANNOUNCED * MEBIBYTE.length}\r\n`;
  const CHUNKED = "Transfer-Encoding: chunked\r\n";

  it.each([
    ["without a key", 401, () => `POST /api/v1/campaign-plans HTTP/1.1\r\nHost: x\r\n${length}\r\n`, undefined],
    ["without a key, in chunks", 401, () => `POST /api/mcp HTTP/1.1\r\nHost: x\r\n${CHUNKED}\r\n`, chunked],
    ["too large", 413, () => `POST /api/mcp HTTP/1.1\r\n${authorised(`Content-Type: application/json\r\n${length}`)}`, undefined],
    ["too large, in chunks", 413, () => `POST /api/mcp HTTP/1.1\r\n${authorised(`Content-Type: application/json\r\n${CHUNKED}`)}`, chunked],
    ["too large for a list, in chunks", 413, () => `GET /api/v1/links HTTP/1.1\r\n${authorised(CHUNKED)}`, chunked],
    ["to a target without a path", 404, () => `POST foo://x HTTP/1.1\r\nHost: x\r\n${length}\r\n`, undefined],
    ["at an unknown path", 404, () => `PUT /nothing HTTP/1.1\r\n${authorised(length)}`, undefined],
  ])("%s gets %i and is not read to its end", async (_, status, head, frame) => {
    const { text, takenMib } = await send(head(), frame);
    expect(statusesOf(text)).toEqual([status]);
    expect(text.toLowerCase()).toContain("\r\nconnection: close\r\n");
    expect(JSON.parse(text.slice(text.indexOf("\r\n\r\n")))).toHaveProperty("error");
    expect(takenMib).toBeLessThan(TAKEN_MIB_MAX);
  });

  it("leaves the connection open if it is small", async () => {
    const refused = `POST /api/v1/campaign-plans HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n${"x".repeat(1_000)}`;
    const received = await untilClosed(stack.url, refused + get("/api/v1/links", "Connection: close\r\n"));
    expect(statusesOf(received)).toEqual([401, 200]);
  });

  it("leaves the connection open if a list ignores it", async () => {
    const chunks = `GET /api/v1/links HTTP/1.1\r\n${authorised(CHUNKED)}1\r\nx\r\n0\r\n\r\n`;
    const received = await untilClosed(stack.url, chunks + get("/api/v1/links", "Connection: close\r\n"));
    expect(statusesOf(received)).toEqual([200, 200]);
  });
});

describe("pipelined requests", () => {
  it("get their responses in order", async () => {
    const COUNT = 100;
    const ids = Array.from({ length: COUNT }, (_, index) => `pipelined-${index}`);
    const requests = ids.map((id, index) =>
      get("/api/v1/links", `X-Request-Id: ${id}\r\n${index === COUNT - 1 ? "Connection: close\r\n" : ""}`),
    );
    const received = await untilClosed(stack.url, requests.join(""));
    expect([...received.matchAll(/x-request-id: (\S+)/gi)].map(([, id]) => id)).toEqual(ids);
  });

  it("wait until the responses before them are read", async () => {
    const CONNECTIONS = 4;
    const REQUESTS = 800;
    /** A page has 120 KB, and the two ends of a loopback connection buffer several MiB. */
    const HANDLED_MAX = 100;
    const counted = await stack.createBrand();
    await seedBrand(stack, counted.id);
    const before = await remainingOf(counted);
    const sockets = Array.from({ length: CONNECTIONS }, open);
    for (const socket of sockets) socket.write(get("/api/v1/submissions?limit=200", "", counted).repeat(REQUESTS));
    // Waits until each connection has been read, and then until nothing more is handled.
    let last = before;
    let asked = 0;
    await eventually(
      async () => {
        const now = await remainingOf(counted);
        asked += 1;
        const handled = last - now - 1;
        last = now;
        expect({ handled, isBegun: before - now - asked > CONNECTIONS }).toEqual({ handled: 0, isBegun: true });
      },
      { timeoutMs: 60_000, everyMs: 300 },
    );
    expect((before - last) / CONNECTIONS).toBeGreaterThan(1);
    expect((before - last) / CONNECTIONS).toBeLessThan(HANDLED_MAX);
    for (const socket of sockets) socket.destroy();
  });

  it("beyond a thousand waiting are not parsed, however slowly the responses are read", async () => {
    const REQUESTS = 200_000; // 400 MB if all were parsed
    const socket = open();
    socket.write(get("/api/v1/submissions?limit=200").repeat(100));
    const sent = new Promise((resolve) => socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(REQUESTS), resolve));
    const closed = new Promise((resolve) => socket.once("close", resolve));
    // Reads in steps: each drains the response, after which Node parses more.
    socket.on("data", () => {
      socket.pause();
      setImmediate(() => socket.resume());
    });
    await Promise.race([sent, closed]);
    await closed;
    expect((await stack.get("/api/v1/links?limit=1", brand.key)).status).toBe(200);
  });
});

describe("bodies read at the same time", () => {
  const BODY_BYTES = 768 * 1024;
  const MEBIBYTE = 1024 * 1024;
  const PER_BRAND_MAX = (8 * MEBIBYTE) / BODY_BYTES;
  const TOTAL_MAX = Math.floor((64 * MEBIBYTE) / BODY_BYTES);

  const metric = (name: string) => metricOf(stack.gateways[0].process, name);
  const heldBytes = () => metric("http_body_bytes");

  interface SlowBody {
    readonly socket: Socket;
    /** The response received until now. */
    text(): string;
  }

  /** Sends a message except for its last byte. */
  function sendSlowly(key: string): SlowBody {
    const socket = open();
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}'.padEnd(BODY_BYTES - 1);
    socket.write(
      `POST /api/mcp HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${BODY_BYTES}\r\n\r\n${body}`,
    );
    return { socket, text: () => text };
  }

  const isRefused = ({ text }: SlowBody) => text() !== "";
  /** Resolves when each body is held or refused. */
  const untilSettled = (bodies: readonly SlowBody[]) =>
    eventually(async () => {
      const refused = bodies.filter(isRefused).length;
      expect(await heldBytes()).toBe((bodies.length - refused) * BODY_BYTES);
    });

  it("use at most a brand's share, leave others served, and free it however they end", async () => {
    const other = await stack.createBrand();
    const slow = Array.from({ length: PER_BRAND_MAX + 3 }, () => sendSlowly(brand.key));
    await eventually(() => expect(slow.filter(isRefused).length).toBeGreaterThanOrEqual(3));
    await untilSettled(slow);
    expect(await heldBytes()).toBeLessThanOrEqual(8 * MEBIBYTE);
    for (const { text } of slow.filter(isRefused)) {
      expect(statusesOf(text())).toEqual([503]);
      expect(text()).toMatch(/\r\nretry-after: 1\r\n/i);
      expect(text()).toContain('"code":"unavailable"');
    }
    expect(await metric("http_bodies_refused_total")).toBe(slow.filter(isRefused).length);

    const othersBody = sendSlowly(other.key);
    othersBody.socket.write(" ");
    await eventually(() => expect(statusesOf(othersBody.text())).toEqual([200]));

    const ends: ((socket: Socket) => void)[] = [
      (socket) => socket.resetAndDestroy(),
      (socket) => socket.destroy(),
      (socket) => socket.end(),
      (socket) => socket.write("}"),
      (socket) => socket.write(" "),
    ];
    for (const [index, { socket }] of slow.entries()) ends[index % ends.length]!(socket);
    await eventually(async () => expect(await heldBytes()).toBe(0));
    const again = sendSlowly(brand.key);
    again.socket.write(" ");
    await eventually(() => expect(statusesOf(again.text())).toEqual([200]));
    for (const { socket } of [...slow, othersBody, again]) socket.destroy();
  });

  it("of all brands use at most 64 MiB together", async () => {
    const others = await Promise.all(Array.from({ length: 9 }, () => stack.createBrand()));
    const slow = others.flatMap(({ key }) => Array.from({ length: 10 }, () => sendSlowly(key)));
    await eventually(() => expect(slow.filter(isRefused).length).toBeGreaterThanOrEqual(slow.length - TOTAL_MAX));
    await untilSettled(slow);
    expect(await heldBytes()).toBeLessThanOrEqual(64 * MEBIBYTE);
    // Requests without a body are still served.
    expect((await stack.get("/api/v1/links", brand.key)).status).toBe(200);
    for (const { socket } of slow) socket.destroy();
    await eventually(async () => expect(await heldBytes()).toBe(0));
  });

  it("are counted by their bytes, also in chunks of one byte", async () => {
    const socket = open();
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    const bytes = 200_000;
    socket.write(`POST /api/mcp HTTP/1.1\r\n${authorised("Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n")}`);
    socket.write("1\r\n \r\n".repeat(bytes));
    await eventually(async () => expect(await heldBytes()).toBeGreaterThanOrEqual(bytes));
    expect(await heldBytes()).toBeLessThanOrEqual(2 * bytes);
    socket.write('28\r\n{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n0\r\n\r\n');
    await eventually(() => expect(statusesOf(text)).toEqual([200]));
    socket.destroy();
  });
});
