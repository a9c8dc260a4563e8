import { once } from "node:events";
import { connect } from "node:net";
import { eventually } from "@brand-records/testkit";
import { logOf } from "../admin-port.ts";
import { GENERATIONS, post, refusalOf, request, toolCall } from "../mcp.ts";
import { rawRequest, untilClosed } from "../raw-http.ts";
import { startOnSharedServices, type SharedStack, type TestBrand } from "../stack.ts";

/** One promise: whatever an assistant sends, it gets a clear response of the protocol, and its next message is served. */

let stack: SharedStack;
let brand: TestBrand;

beforeAll(async () => {
  stack = await startOnSharedServices({ RATE_LIMIT_PLUS: "100000", HEADERS_TIMEOUT_MS: "1000", REQUEST_TIMEOUT_MS: "1500" });
  brand = await stack.createBrand();
});
afterAll(() => stack.stop());

const BODY_BYTES_MAX = 768 * 1024;
const send = (body: unknown, headers: Record<string, string> = {}) => post(stack.url, brand.key, { headers, body });
const ping = (id: unknown) => ({ jsonrpc: "2.0", id, method: "ping" });
const links = (args: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_links","arguments":${args}}}`;

async function expectRefused(body: unknown, rpc: number, status = 400, id: unknown = null): Promise<void> {
  const response = await send(body);
  expect({ status: response.status, body: response.body }).toMatchObject({ status, body: { jsonrpc: "2.0", id, error: { code: rpc } } });
}

describe("invalid JSON: 400 -32700", () => {
  it.each([
    ["no bytes", ""],
    ["white space", " \n"],
    ["half an object", '{"jsonrpc":"2.0"'],
    ["two objects", '{"jsonrpc":"2.0","id":1,"method":"ping"}{}'],
    ["a comment", '{"jsonrpc":"2.0","id":1,"method":"ping"/**/}'],
    ["single quotes", "{'jsonrpc':'2.0'}"],
    ["NaN", '{"jsonrpc":"2.0","id":NaN,"method":"ping"}'],
    ["a raw line break in a string", '{"jsonrpc":"2.0","id":"a\nb","method":"ping"}'],
    ["bytes that are not UTF-8", Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
    ["a surrogate in UTF-8", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ["UTF-16", Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping"}', "utf16le")],
  ])("%s", async (_, body) => {
    await expectRefused(body, -32700);
  });
});

describe("invalid messages: 400 -32600", () => {
  it.each([
    ["a batch", [ping(1), ping(2)]],
    ["a batch of one", [ping(1)]],
    ["an empty batch", []],
    ["null", "null"],
    ["a string", '"ping"'],
    ["a number", "7"],
    ["an empty object", {}],
    ["no jsonrpc", { id: 1, method: "ping" }, 1],
    ["jsonrpc 1.0", { ...ping("a"), jsonrpc: "1.0" }, "a"],
    ["jsonrpc as a number", { ...ping(1), jsonrpc: 2 }, 1],
    ["a method that is not a string", { ...ping(1), method: 1 }, 1],
    ["a null method", { ...ping(1), method: null }, 1],
    ["no method", { jsonrpc: "2.0", id: 1 }, 1],
    ["params that are a list", { ...ping(1), params: [] }, 1],
    ["params that are a string", { ...ping(1), params: "x" }, 1],
  ] as [string, unknown, unknown?][])("%s", async (_, body, id = null) => {
    await expectRefused(body, -32600, 400, id);
  });
});

it("params may be null, which some clients send for none", async () => {
  expect((await send(JSON.stringify({ ...ping(1), params: null }))).body).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
});

describe("ids", () => {
  it.each([
    0,
    1,
    -1,
    1e3,
    Number.MAX_SAFE_INTEGER,
    -Number.MAX_SAFE_INTEGER,
    "",
    "1",
    "a",
    "\u0000",
    "ñ😀",
    "\ud800",
    '"\\\n',
    "x".repeat(60_000),
    "__proto__",
  ])("%j comes back unchanged", async (id) => {
    const { status, body } = await send(ping(id));
    expect({ status, id: body.id, result: body.result }).toEqual({ status: 200, id, result: {} });
  });

  it.each([
    ["null", "null"],
    ["true", "true"],
    ["false", "false"],
    ["an object", "{}"],
    ["a list", "[1]"],
    ["a fraction", "1.5"],
    ["2^53", "9007199254740992"],
    ["1e400", "1e400"],
  ])("%s is refused: no response could carry it", async (_, id) => {
    await expectRefused(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`, -32600);
  });

  it("come back in errors too", async () => {
    for (const id of ["a", 0]) {
      const { body } = await send({ jsonrpc: "2.0", id, method: "nothing" });
      expect(body).toMatchObject({ id, error: { code: -32601 } });
    }
  });
});

describe("nesting and repetition", () => {
  const deep = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

  it.each([100, 1_000, 30_000])("%d nested lists as an argument are one wrong argument", async (depth) => {
    expect(refusalOf(await send(links(`{"limit":${deep(depth)}}`)))).toMatchObject({ code: "invalid_parameter", field: "limit" });
    expect(refusalOf(await send(links(`{"other":${deep(depth)}}`)))).toMatchObject({ code: "invalid_parameter", field: "other" });
  });

  it("nested batches are refused as a batch; unclosed objects are invalid JSON", async () => {
    await expectRefused(deep(30_000), -32600);
    await expectRefused('{"a":'.repeat(10_000), -32700);
  });

  it("the last of two equal members counts, also for the check of the headers", async () => {
    const { body } = await send('{"jsonrpc":"1.0","jsonrpc":"2.0","id":1,"id":2,"method":"nothing","method":"ping"}');
    expect(body).toEqual({ jsonrpc: "2.0", id: 2, result: {} });
    const { body: page } = await send(links('{"limit":0,"limit":7}'));
    expect(page.result.isError).toBe(false);
    const smuggled = request("stateless", "tools/list");
    const text = JSON.stringify(smuggled.body).replace('"method":"tools/list"', '"method":"tools/list","method":"tools/call"');
    expect(await send(text, smuggled.headers)).toMatchObject({ status: 400, body: { error: { code: -32020 } } });
  });

  it("of thousands of unknown arguments 30 are listed", async () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`a${index}`, 1]));
    const refusal = refusalOf(await send(links(JSON.stringify(many))));
    expect(refusal.details).toHaveLength(30);
    expect(refusal.message).toContain("more than 30 problems");
  });
});

describe("names from the prototype", () => {
  it.each(["__proto__", "constructor", "toString", "hasOwnProperty"])("%s is an unknown argument", async (name) => {
    expect(refusalOf(await send(links(`{"${name}":{"limit":1}}`)))).toMatchObject({ code: "invalid_parameter", field: name });
  });

  it("__proto__ in the envelope, params or _meta changes nothing", async () => {
    const smuggled =
      '"__proto__":{"method":"tools/list","jsonrpc":"2.0","name":"list_links","io.modelcontextprotocol/protocolVersion":"2026-07-28"}';
    await expectRefused(`{${smuggled},"jsonrpc":"2.0","id":1}`, -32600, 400, 1);
    await expectRefused(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${smuggled}}}`, -32602, 200, 1);
    const { body } = await send(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{${smuggled}}}}`);
    expect(body.result).toEqual({});
    expect((await send(ping(1))).body).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
  });
});

describe.each(GENERATIONS)("text that cannot be stored, %s", (generation) => {
  it.each([
    ["NUL", "\u0000"],
    ["a lone surrogate", "\ud800"],
    ["a cursor with NUL within", "WzEsIm\u0000xpbmtz"],
    ["60,000 characters", "x".repeat(60_000)],
    ["emoji", "😀".repeat(100)],
  ])("%s is refused: invalid_cursor as cursor, invalid_parameter as since", async (_, text) => {
    const callWith = (args: object) => post(stack.url, brand.key, toolCall(generation, "list_links", args));
    expect(refusalOf(await callWith({ cursor: text }))).toMatchObject({ code: "invalid_cursor" });
    expect(refusalOf(await callWith({ since: text }))).toMatchObject({ code: "invalid_parameter", field: "since" });
  });
});

describe("the body's size and form", () => {
  const padded = (bytes: number) => {
    const text = JSON.stringify(ping("x"));
    return text + " ".repeat(bytes - text.length);
  };

  it("768 KiB are accepted and one byte more is 413, with a length or in chunks", async () => {
    expect((await send(padded(BODY_BYTES_MAX))).status).toBe(200);
    await expectRefused(padded(BODY_BYTES_MAX + 1), -32000, 413);
    const head = `POST /api/mcp HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${brand.key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
    const inChunks = (bytes: number) =>
      rawRequest(stack.url, [head, chunk(padded(bytes).slice(0, 5)), chunk(padded(bytes).slice(5)), "0\r\n\r\n"]);
    expect(await inChunks(BODY_BYTES_MAX)).toMatchObject({ status: 200 });
    const { status, body } = await inChunks(BODY_BYTES_MAX + 1);
    expect({ status, body: JSON.parse(body) }).toMatchObject({
      status: 413,
      body: { id: null, error: { code: -32000, data: { code: "payload_too_large" } } },
    });
  });

  it.each([
    undefined,
    "text/plain",
    "application/json-rpc",
    "application/jsonx",
    "text/json",
    "application/json; charset=utf-16",
    "multipart/form-data",
  ])("Content-Type %s is 415", async (type) => {
    const { status, body } = await rawRequest(stack.url, [
      `POST /api/mcp HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${brand.key}\r\n${type === undefined ? "" : `Content-Type: ${type}\r\n`}Content-Length: 2\r\n\r\n{}`,
    ]);
    expect({ status, body: JSON.parse(body) }).toMatchObject({
      status: 415,
      body: { error: { code: -32000, data: { code: "unsupported_media_type" } } },
    });
  });

  it.each(["application/json", "application/json;charset=utf-8", "application/json; charset=UTF-8", 'Application/JSON; charset="utf-8"'])(
    "Content-Type %s is accepted",
    async (type) => {
      expect((await send(ping(1), { "content-type": type })).status).toBe(200);
    },
  );

  it("a compressed body is 415", async () => {
    const response = await send(ping(1), { "content-encoding": "gzip" });
    expect(response).toMatchObject({ status: 415, body: { error: { data: { code: "unsupported_media_type" } } } });
  });

  it("a byte order mark is accepted", async () => {
    expect((await send(`\ufeff${JSON.stringify(ping(1))}`)).status).toBe(200);
  });
});

describe("bytes that are not a request, sent to this path", () => {
  const START = "POST /api/mcp HTTP/1.1\r\nHost: x\r\n";

  it.each([
    ["a space in a header's name", `${START}Bad Header: x\r\n\r\n`, 400],
    ["two lengths", `${START}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`, 400],
    ["a query and HTTP/1.2", "POST /api/mcp?x HTTP/1.2\r\n\r\n", 400],
  ])("%s gets an error in the protocol's form", async (_, bytes, status) => {
    const response = await rawRequest(stack.url, [bytes]);
    expect({ status: response.status, body: JSON.parse(response.body) }).toMatchObject({
      status,
      body: { jsonrpc: "2.0", id: null, error: {} },
    });
  });

  it("end the connection after responses, in order, to the messages before them", async () => {
    const post = (body: string) =>
      `${START}Authorization: Bearer ${brand.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const received = await untilClosed(stack.url, `${post(JSON.stringify(ping("first")))}${post(links("{}"))}nonsense\r\n\r\n`);
    const statuses = [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(statuses.slice(0, 2)).toEqual(["200", "200"]);
    expect(received.indexOf('"id":"first"')).toBeLessThan(received.indexOf('"structuredContent"'));
    expect(received.indexOf('"id":"first"')).toBeGreaterThan(0);
  });
});

describe("a client that sends Expect: 100-continue", () => {
  const expecting = (key: string, length: number) =>
    `POST /api/mcp HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`;

  it("gets 100 Continue once it is admitted", async () => {
    const body = JSON.stringify(ping(1));
    expect(await untilClosed(stack.url, expecting(brand.key, body.length) + body)).toMatch(
      /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /,
    );
  });

  it("is refused without 100 Continue for a wrong key and for a body that is too large", async () => {
    expect(await untilClosed(stack.url, expecting("none", 100))).toMatch(/^HTTP\/1\.1 401 /);
    expect(await untilClosed(stack.url, expecting(brand.key, BODY_BYTES_MAX + 1))).toMatch(/^HTTP\/1\.1 413 /);
  });
});

describe("incomplete bodies", () => {
  const head = (length: number | "chunked") =>
    `POST /api/mcp HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${brand.key}\r\nContent-Type: application/json\r\n${length === "chunked" ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`}\r\n\r\n`;

  it("a client that leaves is logged as 499, not as a failure", async () => {
    const already = logOf(stack.gateways[0].process).length;
    let remaining = await remainingAfterPing();
    const { hostname, port } = new URL(stack.url);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    socket.write(`${head(1_000)}{"jsonrpc"`);
    // Once the request is counted, the gateway is waiting for its body.
    await eventually(async () => {
      const before = remaining;
      remaining = await remainingAfterPing();
      expect(before - remaining).toBe(2);
    });
    socket.resetAndDestroy();
    const line = await eventually(() => {
      const found = logOf(stack.gateways[0].process)
        .slice(already)
        .find((entry) => entry["status"] === 499 && entry["route"] === "/api/mcp");
      if (found === undefined) throw new Error("not logged yet");
      return found;
    });
    expect(line).toMatchObject({ method: "POST", brand_id: brand.id });
    expect(
      logOf(stack.gateways[0].process)
        .slice(already)
        .filter(({ msg }) => msg === "request failed"),
    ).toEqual([]);
    expect((await send(ping(1))).status).toBe(200);
  });

  it("a body that stops arriving is 408", async () => {
    const { status, body } = await rawRequest(stack.url, [head(1_000), '{"jsonrpc"']);
    expect({ status, body: JSON.parse(body) }).toMatchObject({
      status: 408,
      body: { id: null, error: { code: -32000, data: { code: "request_timeout" } } },
    });
  });

  it("broken chunks are 400", async () => {
    const { status, body } = await rawRequest(stack.url, [head("chunked"), '5\r\n{"jso\r\n', "nonsense\r\n"]);
    expect({ status, body: JSON.parse(body) }).toMatchObject({
      status: 400,
      body: { id: null, error: { code: -32600, data: { code: "invalid_request" } } },
    });
  });

  async function remainingAfterPing(): Promise<number> {
    const { headers } = await send(ping(1));
    return Number(/r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]);
  }
});
