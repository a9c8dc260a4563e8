import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { OPERATIONS, type OperationName } from "@brand-records/console-contract";
import { PERSON_FIELD } from "@brand-records/console-contract/protocol";
import { errorHandler } from "@brand-records/edge";
import { AppError } from "@brand-records/errors";
import { countServerErrors, fromServiceError } from "@brand-records/rpc";
import { openMetrics } from "@brand-records/telemetry";
import { Metadata, status } from "@grpc/grpc-js";
import express from "express";
import { closeIfUnread } from "./body.ts";
import { CallLimit } from "./call-limits.ts";
import type { CallDependencies } from "./dependencies.ts";
import { serveCalls } from "./calls.ts";
import { sendError } from "./errors.ts";
import { requestContext } from "./request-context.ts";
import { SessionAdmission } from "./session-admission.ts";

/** One promise: who calls is found out when the whole call is there, a valid session always passes, and the rest is bounded. */

const VALID = "v".repeat(43);
const OTHER = "w".repeat(43);
const BRAND = "brd_1";
const ORIGIN = "http://localhost:8080";
const CALLS_PER_ADDRESS = 200;

let server: Server;
let port: number;
const sockets: Socket[] = [];
/** Look-ups of sessions that reached accounts. */
const lookups = { count: 0, running: 0, runningMax: 0 };
/** The members of the brand, by their tokens. */
let members: Set<string>;
/** Every look-up waits for it. */
let gate: Promise<void>;

const sessions = {
  async getSession({ token }: { token: string }) {
    lookups.count += 1;
    lookups.running += 1;
    lookups.runningMax = Math.max(lookups.runningMax, lookups.running);
    // Others may begin meanwhile.
    await new Promise((resolve) => setImmediate(resolve));
    await gate;
    lookups.running -= 1;
    if (token !== VALID && token !== OTHER) throw new AppError("invalid_session", "The session has ended.");
    const brand = { brand_id: BRAND, brand_name: "Brand", tier: "plus", verified: true, role: "owner" };
    return { session: { email: "nena@example.ph", ends_at: "2026-11-23T20:00:00Z" }, memberships: members.has(token) ? [brand] : [] };
  },
};
const receivers = { sendWaiting: jest.fn() };
const accounts = { listKeys: () => Promise.resolve({ keys: [] }) };

async function start(settings: object = {}): Promise<void> {
  const config = { PUBLIC_URL: ORIGIN, REQUEST_DEADLINE_MS: 10_000, CALLS_PER_SESSION: 10_000, CALLS_PER_ADDRESS, ...settings };
  const services = { sessions, accounts, receivers };
  const admission = new SessionAdmission(services as never, config);
  const deps = { config, services, log: undefined, signInsOfAddress: new CallLimit(30), sessions: admission };
  const app = express();
  app.use(requestContext(config.REQUEST_DEADLINE_MS));
  app.use(closeIfUnread);
  app.use("/console/api", serveCalls(deps as unknown as CallDependencies));
  app.use(errorHandler(countServerErrors(openMetrics("console")), sendError));
  server = createServer(app);
  await once(server.listen(0, "127.0.0.1"), "listening");
  ({ port } = server.address() as AddressInfo);
}

beforeEach(() => {
  Object.assign(lookups, { count: 0, running: 0, runningMax: 0 });
  members = new Set([VALID, OTHER]);
  gate = Promise.resolve();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const cookieOf = (token: string): string => `session_8080=${token}`;
const HEADERS = { "content-type": "application/json", "sec-fetch-site": "same-origin" };

const BODY = JSON.stringify({ brand_id: BRAND });

const post = (name: OperationName, token: string, body: string): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}/console/api/${name}`, { method: "POST", headers: { ...HEADERS, cookie: cookieOf(token) }, body });

async function call(token: string, body = BODY): Promise<number> {
  const response = await post("keys.list", token, body);
  await response.arrayBuffer();
  return response.status;
}

interface HeldCall {
  send(bytes: string): void;
  /** Resolves with the status. */
  response(): Promise<string>;
  /** Resolves when the server has closed the connection. */
  closed(): Promise<void>;
}

/** Sends the head of a call on a socket of its own, which waits for 100 Continue: its handler has begun by then. */
async function begin(token: string, head: string): Promise<HeldCall> {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  let received = "";
  const until = (pattern: RegExp): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => void (pattern.test(received) && resolve());
      socket.on("data", check);
      socket.on("close", () => resolve());
      check();
    });
  // A server that refuses what is still being sent may reset the connection.
  socket.on("error", () => {});
  socket.setEncoding("latin1").on("data", (text: string) => (received += text));
  const lines = Object.entries({ host: "localhost", ...HEADERS, cookie: cookieOf(token), expect: "100-continue" });
  socket.write(`POST /console/api/keys.list HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}${head}\r\n`);
  await until(/^HTTP\/1\.1 100 /);
  return {
    send: (bytes) => void socket.write(bytes),
    async response() {
      await until(/HTTP\/1\.1 [^1][\s\S]*\r\n\r\n/);
      return /HTTP\/1\.1 ([^1]\d\d)/.exec(received)?.[1] ?? "";
    },
    closed: () => new Promise((resolve) => (socket.closed ? resolve() : socket.once("close", () => resolve()))),
  };
}

const random = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");

describe("a call whose body is held back by one byte", () => {
  it("is refused if its member was removed meanwhile; the session is looked up once, after the body", async () => {
    await start();
    const held = await begin(VALID, `content-length: ${BODY.length}\r\n`);
    held.send(BODY.slice(0, -1));
    expect(await call(OTHER)).toBe(200);
    members.delete(VALID);
    held.send(BODY.slice(-1));
    expect(await held.response()).toBe("404");
    expect(lookups.count).toBe(2);
  });

  it("is refused also if the body is large, whose session is looked up before it, too", async () => {
    await start();
    const large = BODY.padEnd(200_000);
    for (const [head, pieces] of [
      [`content-length: ${large.length}\r\n`, [large.slice(0, -1), large.slice(-1)]],
      ["transfer-encoding: chunked\r\n", [`${large.length.toString(16)}\r\n${large}\r\n`, "0\r\n\r\n"]],
    ] as const) {
      members.add(VALID);
      const held = await begin(VALID, head);
      held.send(pieces[0]);
      expect(await call(OTHER)).toBe(200);
      members.delete(VALID);
      held.send(pieces[1]);
      expect(await held.response()).toBe("404");
    }
    expect(lookups.count).toBe(6);
  });

  it("ends when its time is over", async () => {
    await start({ REQUEST_DEADLINE_MS: 100 });
    const held = await begin(VALID, `content-length: ${BODY.length}\r\n`);
    held.send(BODY.slice(0, -1));
    expect(await held.response()).toBe("408");
    await held.closed();
    expect(lookups.count).toBe(0);
  });
});

describe("a body", () => {
  it.each([
    ["of 17 KB, without a valid session", random(), 17_000, "401"],
    ["without a session's token", "token", 100, "401"],
    ["of 800 KB", VALID, 800_000, "413"],
  ])("%s is not waited for", async (_, token, bytes, status) => {
    await start();
    expect(await (await begin(token, `content-length: ${bytes}\r\n`)).response()).toBe(status);
  });

  it("without an end closes its connection with the refusal", async () => {
    await start();
    const endless = await begin("token", "transfer-encoding: chunked\r\n");
    endless.send("1\r\nx\r\n");
    expect(await endless.response()).toBe("401");
    await endless.closed();
  });

  it.each([
    ["of 800 KB in chunks", `${(800_000).toString(16)}\r\n${" ".repeat(768 * 1024 + 1)}`, "413"],
    ["that is no JSON", "1\r\n{\r\n0\r\n\r\n", "400"],
    ["that is no UTF-8", '3\r\n"\xff"\r\n0\r\n\r\n', "400"],
  ])("%s is refused", async (_, bytes, status) => {
    await start();
    const call = await begin(VALID, "transfer-encoding: chunked\r\n");
    call.send(bytes);
    expect(await call.response()).toBe(status);
  });
});

describe("an address from which 300 calls with wrong tokens came", () => {
  it("refuses the last 100 of them as too many, and no call of a valid session, known or new; no more than four are looked up at a time", async () => {
    await start();
    expect(await call(VALID)).toBe(200);
    const statuses: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      statuses.push(...(await Promise.all(Array.from({ length: 50 }, () => call(random())))));
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(CALLS_PER_ADDRESS);
    expect(statuses.filter((status) => status === 429)).toHaveLength(100);
    expect(lookups).toMatchObject({ count: 301, runningMax: 4 });

    for (const token of [VALID, OTHER]) {
      for (let time = 0; time < 10; time += 1) expect(await call(token)).toBe(200);
    }
    lookups.runningMax = 0;
    await Promise.all(Array.from({ length: 50 }, () => call(random())));
    expect(lookups.runningMax).toBe(1);
  });

  it("looks up no text that is no token, and a known session without waiting for others", async () => {
    await start({ CALLS_PER_ADDRESS: 10 });
    expect(await call(VALID)).toBe(200);
    for (let time = 0; time < 20; time += 1) expect(await call("guess")).toBe(401);
    expect(lookups.count).toBe(1);

    let open = (): void => {};
    gate = new Promise((resolve) => (open = resolve));
    let refused = 0;
    const guess = async (): Promise<number> => {
      const status = await call(random());
      if (status === 429) refused += 1;
      return status;
    };
    const guesses = Array.from({ length: 600 }, guess);
    // Four are looked up, 500 wait.
    while (refused < 96) await new Promise((resolve) => setImmediate(resolve));
    const known = call(VALID);
    while (lookups.count < 6) await new Promise((resolve) => setImmediate(resolve));
    expect(lookups.running).toBe(5);
    open();
    expect(await known).toBe(200);
    const statuses = await Promise.all(guesses);
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(lookups.count).toBe(506);
  });
});

it("a session's calls beyond its limit are refused before they are looked up", async () => {
  await start({ CALLS_PER_SESSION: 5 });
  const statuses: number[] = [];
  for (let time = 0; time < 8; time += 1) statuses.push(await call(VALID));
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
  expect(lookups.count).toBe(5);
});

it("a call for a page that shows another person is refused, also through a gateway that passes no header it does not know", async () => {
  await start();
  const naming = (person: unknown) => call(VALID, JSON.stringify({ brand_id: BRAND, person }));
  expect([await naming("bea@example.ph"), await naming(null), await naming("nena@example.ph"), await call(VALID)]).toEqual([
    409, 409, 200, 200,
  ]);
});

it("a change that a service of an earlier release does not have is an update under way", async () => {
  await start();
  const metadata = new Metadata();
  receivers.sendWaiting.mockRejectedValue(
    fromServiceError(Object.assign(new Error(), { code: status.UNIMPLEMENTED, details: "", metadata })),
  );
  const response = await post("receivers.send_waiting", VALID, JSON.stringify({ brand_id: BRAND, receiver_id: "rcv_1", all: true }));
  expect([response.status, await response.json()]).toMatchObject([
    503,
    { error: { code: "unavailable", message: "The console has no such operation. Reload the page." } },
  ]);
});

it("no operation has a field by the name of the one that names the person", () => {
  expect(Object.entries(OPERATIONS).filter(([, { input }]) => Object.hasOwn(input.shape, PERSON_FIELD))).toEqual([]);
});

it("a call of a brand names the role in which it was made", async () => {
  await start();
  const response = await post("keys.list", VALID, BODY);
  expect([response.status, response.headers.get("x-console-role")]).toEqual([200, "owner"]);
});
