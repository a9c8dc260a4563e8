import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, request, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import type { BrandEvent, UnknownEvent } from "@brand-records/client";
import { receiveEvents as expressReceiver } from "@brand-records/client/express";
import { receiveEvents as fetchReceiver } from "@brand-records/client/fetch";
import { receiveEvents as honoReceiver } from "@brand-records/client/hono";
import { signDelivery } from "@brand-records/client/signing";
import { getRequestListener } from "@hono/node-server";
import express, { type ErrorRequestHandler } from "express";
import { Hono, type Context } from "hono";

/** One promise: a receiver of three lines verifies the raw body, in every framework, and says what is wrong. */

const SECRET = `whsec_${randomBytes(32).toString("base64")}`;
const NEXT = `whsec_${randomBytes(32).toString("base64")}`;
const SECRETS = [SECRET, NEXT];

interface Adapter {
  /** Listens at /hooks, and at /parsed behind a parser of JSON. */
  listener(handle: (event: BrandEvent | UnknownEvent) => Promise<void>): RequestListener;
}

const ADAPTERS: Record<string, Adapter> = {
  express: {
    listener(handle) {
      const app = express();
      const receive = expressReceiver({ secrets: SECRETS, types: ["payout.paid", "campaign.settled"] }, (event) => handle(event));
      const failed: ErrorRequestHandler = (error: Error, _request, response, _next) => void response.status(500).send(error.message);
      app.use("/parsed", express.json(), receive);
      app.use("/raw", express.raw({ type: "application/json" }), receive);
      app.use("/hooks", receive);
      return app.use(failed);
    },
  },
  "node:http": {
    listener(handle) {
      const receive = expressReceiver({ secrets: SECRETS, types: ["payout.paid", "campaign.settled"] }, (event) => handle(event));
      // Bare, as createServer calls it: what it rejected with would end the process.
      return (request, response) => {
        if (request.url !== "/parsed") return void receive(request, response);
        // What a parser does.
        request.once("end", () => void receive(request, response)).resume();
      };
    },
  },
  hono: {
    listener(handle) {
      const app = new Hono();
      app.use("/parsed", async (c, next) => {
        await c.req.json();
        await next();
      });
      const receive = honoReceiver(
        { secrets: async () => SECRETS, types: ["payout.paid", "campaign.settled"] },
        async (event, c: Context) => {
          expect(c.req.method).toBe("POST");
          await handle(event);
        },
      );
      app.all("/hooks", receive).all("/parsed", receive);
      app.onError((error, c) => c.text(error.message, 500));
      return listenerOf((request) => app.fetch(request));
    },
  },
  fetch: {
    listener(handle) {
      const receive = fetchReceiver(
        { secrets: (_request, env: { SECRETS: string[] }) => env.SECRETS, types: ["payout.paid", "campaign.settled"] },
        (event, _request, env) => {
          expect(env.SECRETS).toBe(SECRETS);
          return handle(event);
        },
      );
      return listenerOf(async (request) => {
        if (new URL(request.url).pathname === "/parsed") await request.json();
        return receive(request, { SECRETS }).catch((error: Error) => new Response(error.message, { status: 500 }));
      });
    },
  },
};

function listenerOf(handle: (request: Request) => Response | Promise<Response>): RequestListener {
  const listen = getRequestListener(handle);
  return (request, response) => void listen(request, response);
}

const bodyOf = (type: string, fields: object = {}): string => JSON.stringify({ id: "evt_1", type, data: { id: "po_1", ...fields } });
// Parsed and written again, it has other bytes.
const BODY = bodyOf("payout.paid", { amount: 1.5 }).replace("1.5", "1.50");

describe.each(Object.entries(ADAPTERS))("%s", (name, { listener }) => {
  let server: Server;
  let events: (BrandEvent | UnknownEvent)[];
  let failure: Error | undefined;
  beforeAll(async () => {
    const handle = async (event: BrandEvent | UnknownEvent): Promise<void> => {
      if (failure !== undefined) throw failure;
      events.push(event);
    };
    server = createServer(listener(handle)).listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  beforeEach(() => {
    events = [];
    failure = undefined;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const url = (path: string): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

  async function deliver(
    body: string | Buffer,
    headers: Record<string, string> = {},
    path = "/hooks",
  ): Promise<[status: number, text: string]> {
    const signed = await signDelivery(body, SECRET, { id: "evt_1", type: /"type":"([^"]*)/.exec(String(body))?.[1] ?? "none" });
    const response = await fetch(url(path), { method: "POST", headers: { ...signed, ...headers }, body });
    return [response.status, await response.text()];
  }

  it("hands over a verified event, by either secret, with the bytes that were signed", async () => {
    expect(await deliver(BODY)).toEqual([204, ""]);
    expect(await deliver(BODY, await signDelivery(BODY, NEXT))).toEqual([204, ""]);
    if (name === "express") expect(await deliver(BODY, {}, "/raw")).toEqual([204, ""]);
    expect(events.slice(0, 2)).toEqual([JSON.parse(BODY), JSON.parse(BODY)]);
  });

  it("refuses others with 401 and the reason, and types that it does not select with 422", async () => {
    const old = await signDelivery(BODY, SECRET, { timestamp: 1_000_000_000 });
    expect(await deliver(BODY, old)).toEqual([401, expect.stringContaining("the timestamp is more than 300 s")]);
    const other = await signDelivery(BODY.replace("po_1", "po_2"), SECRET);
    expect(await deliver(BODY, other)).toEqual([401, expect.stringContaining("no secret made this signature")]);
    expect(await deliver("{")).toEqual([401, expect.stringContaining("not JSON")]);
    expect(await deliver(bodyOf("submission.approved"))).toEqual([422, expect.stringContaining("not configured")]);
    expect(await deliver(bodyOf("link.disabled"))).toEqual([422, expect.stringContaining("not configured")]);
    expect(events).toEqual([]);
  });

  it("refuses other methods, and what is larger than any delivery", async () => {
    const get = await fetch(url("/hooks"));
    expect([get.status, get.headers.get("allow")]).toEqual([405, "POST"]);
    const padded = bodyOf("payout.paid", { padding: "x".repeat(20 * 1024) });
    expect(await deliver(padded)).toEqual([204, ""]);
    const tooLarge = bodyOf("payout.paid", { padding: "x".repeat(64 * 1024) });
    expect((await deliver(tooLarge))[0]).toBe(413);
    if (name === "express") expect((await deliver(tooLarge, {}, "/raw"))[0]).toBe(413);
    expect(events).toHaveLength(1);
  });

  it("does not wait for the end of what is too large", async () => {
    const endless = request(url("/hooks"), { method: "POST" });
    endless.on("error", () => {});
    endless.write(Buffer.alloc(70_000));
    const [response] = (await once(endless, "response")) as [IncomingMessage];
    endless.destroy();
    expect(response.statusCode).toBe(413);
  });

  it("leaves it to the framework if the handler fails, or if the body was parsed before; without one responds and reports it", async () => {
    const reported = jest.spyOn(console, "error").mockImplementation();
    const isBare = name === "node:http";
    failure = new Error("the database is full");
    expect(await deliver(BODY)).toEqual([500, isBare ? "the receiver failed\n" : "the database is full"]);
    failure = undefined;
    const parsed = await deliver(BODY, {}, "/parsed");
    expect(parsed).toEqual([500, isBare ? "the receiver failed\n" : expect.stringContaining("the body was read before")]);
    expect(events).toEqual([]);
    const errors = reported.mock.calls.map(([, error]) => String(error));
    expect(errors).toEqual(isBare ? ["Error: the database is full", expect.stringContaining("the body was read before")] : []);
    reported.mockRestore();
  });

  it("hands over nothing if the connection ends within the body", async () => {
    const signed = await signDelivery(BODY, SECRET);
    const head = Object.entries({ ...signed, Host: "x", "Content-Length": String(BODY.length + 1) }).map(
      ([header, value]) => `${header}: ${value}\r\n`,
    );
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    socket.end(`POST /hooks HTTP/1.1\r\n${head.join("")}\r\n${BODY}`);
    await once(socket.resume(), "close");
    // The next delivery comes later than the cut one could.
    expect(await deliver(bodyOf("campaign.settled"))).toEqual([204, ""]);
    expect(events.map(({ type }) => type)).toEqual(["campaign.settled"]);
  });
});

it("a listener of node:http cuts off a response that has begun when the handler fails", async () => {
  const reported = jest.spyOn(console, "error").mockImplementation();
  const receive = expressReceiver({ secrets: SECRET }, () => Promise.reject(new Error("the database is full")));
  const server = createServer((message, response) => {
    response.write("begun");
    void receive(message, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const headers = await signDelivery(BODY, SECRET);
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { method: "POST", headers, body: BODY });
  await expect(response.text()).rejects.toThrow("terminated");
  expect(reported).toHaveBeenCalledTimes(1);
  reported.mockRestore();
  server.close();
  await once(server, "close");
});

it.each([undefined, "", "secret", []])("a receiver does not start with %j as its secret", (secrets) => {
  const handle = () => undefined;
  expect(() => expressReceiver({ secrets }, handle)).toThrow(TypeError);
  expect(() => honoReceiver({ secrets }, handle)).toThrow(TypeError);
  expect(() => fetchReceiver({ secrets }, handle)).toThrow(TypeError);
});

it("a secret that turns out to be none is the program's mistake, not the delivery's", async () => {
  const receive = fetchReceiver({ secrets: () => "none" }, () => undefined);
  const headers = await signDelivery(BODY, SECRET);
  await expect(receive(new Request("https://hooks.example/", { method: "POST", headers, body: BODY }))).rejects.toThrow(TypeError);
});

it("the types that a receiver selects are those of its handler's event", () => {
  expressReceiver({ secrets: SECRET, types: ["payout.paid"] }, (event) => {
    const amount: number = event.data.amount_centavos;
    expect(amount).toBe(0);
  });
  // @ts-expect-error there is no such type
  expressReceiver({ secrets: SECRET, types: ["payout.pad"] }, () => undefined);
});
