import { createHook } from "node:async_hooks";
import { once } from "node:events";
import { createServer, request, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import express from "express";
import { preferredCoding, staticResponse } from "./static-response.ts";

const LARGE = "Ang larawan ng isang tala. ".repeat(400);
const SMALL = "Kumusta";

let server: Server;

beforeAll(async () => {
  const app = express();
  app.all("/large", staticResponse(LARGE, { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "public, max-age=300" }));
  app.all("/once", staticResponse(LARGE, { "Content-Type": "text/plain; charset=utf-8" }));
  app.all("/small", staticResponse(SMALL, { "Content-Type": "text/plain; charset=utf-8" }));
  server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(async () => {
  server.close();
  await once(server, "close");
});

interface Received {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

async function get(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Received> {
  const { port } = server.address() as AddressInfo;
  const sent = request({ port, path, method, headers, agent: false }).end();
  const [response] = await once(sent, "response");
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
}

const READ = { br: brotliDecompressSync, gzip: gunzipSync, identity: (body: Buffer) => body };

describe.each(["br", "gzip", "identity"] as const)("for a client that accepts %s", (coding) => {
  const accept = { "accept-encoding": coding };

  it("sends compressed content with its length, a strong tag and Vary; to HEAD only the headers", async () => {
    const { status, headers, body } = await get("/large", accept);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "content-type": "text/plain; charset=utf-8",
      "cache-control": "public, max-age=300",
      "content-length": String(body.length),
      etag: expect.stringMatching(/^"[\w-]{43}"$/),
      vary: "Accept-Encoding",
    });
    expect(headers["content-encoding"]).toBe(coding === "identity" ? undefined : coding);
    expect(headers["transfer-encoding"]).toBeUndefined();
    expect(READ[coding](body).toString()).toBe(LARGE);
    const head = await get("/large", accept, "HEAD");
    expect([head.status, { ...head.headers, date: "" }, head.body.length]).toEqual([200, { ...headers, date: "" }, 0]);
  });

  it.each([
    ["its tag", (etag: string) => etag],
    ["its tag, weakened by a cache", (etag: string) => `W/${etag}`],
    ["a list with its tag", (etag: string) => `"other", W/"another" ,${etag}`],
    ["*", () => "*"],
  ])("responds with 304 without a body to %s", async (_, ifNoneMatch) => {
    const { etag = "" } = (await get("/large", accept)).headers;
    for (const method of ["GET", "HEAD"]) {
      const { status, headers, body } = await get("/large", { ...accept, "if-none-match": ifNoneMatch(etag) }, method);
      expect({ status, etag: headers.etag, body: body.toString() }).toEqual({ status: 304, etag, body: "" });
      expect(headers).toMatchObject({ vary: "Accept-Encoding", "cache-control": "public, max-age=300" });
      expect(headers["content-length"]).toBeUndefined();
    }
  });

  it.each(['"other"', "", "nonsense", '"', 'W/"other", "another"'])("sends the content to a client with another tag: %j", async (etag) => {
    const { status, body } = await get("/large", { ...accept, "if-none-match": etag });
    expect(status).toBe(200);
    expect(READ[coding](body).toString()).toBe(LARGE);
  });
});

it("is compressed once for each coding, however many first requests are concurrent", async () => {
  let compressions = 0;
  const hook = createHook({ init: (_, type) => void (compressions += type === "ZLIB" ? 1 : 0) }).enable();
  const getAll = () =>
    Promise.all(
      ["br", "gzip", "identity"].flatMap((coding) => Array.from({ length: 10 }, () => get("/once", { "accept-encoding": coding }))),
    );
  const responses = [...(await getAll()), ...(await getAll())];
  hook.disable();
  expect(compressions).toBe(2);
  expect(new Set(responses.map(({ headers, body }) => `${headers.etag} ${body.toString("base64")}`)).size).toBe(3);
});

it("has a different tag for each coding, since caches store them side by side", async () => {
  const responses = await Promise.all(Object.keys(READ).map((coding) => get("/large", { "accept-encoding": coding })));
  expect(new Set(responses.map(({ headers }) => headers.etag)).size).toBe(3);
  const [br] = responses;
  expect((await get("/large", { "accept-encoding": "gzip", "if-none-match": br?.headers.etag ?? "" })).status).toBe(200);
});

it("never compresses small content", async () => {
  const { headers, body } = await get("/small", { "accept-encoding": "gzip, br" });
  expect(body.toString()).toBe(SMALL);
  expect(headers["content-encoding"]).toBeUndefined();
  expect(headers.vary).toBeUndefined();
  expect((await get("/small", { "if-none-match": headers.etag ?? "" })).status).toBe(304);
});

it.each([
  ["no header", undefined, "identity"],
  ["an empty header", "", "identity"],
  ["the header of browsers", "gzip, deflate, br, zstd", "br"],
  ["gzip alone", "gzip", "gzip"],
  ["other cases and spaces", " GZIP ; Q=1.0 ", "gzip"],
  ["unknown codings only", "deflate, zstd", "identity"],
  ["anything", "*", "br"],
  ["anything but br", "*, br;q=0", "gzip"],
  ["a preference against our order", "br;q=0.5, gzip;q=0.9", "gzip"],
  ["identity before the others", "identity, gzip;q=0.5", "identity"],
  ["identity after the others", "identity;q=0.5, gzip", "gzip"],
  ["gzip excluded", "gzip;q=0", "identity"],
  ["gzip excluded with decimals", "gzip;q=0.000, br;q=0.001", "br"],
  ["everything excluded but gzip", "*;q=0, gzip", "gzip"],
  ["identity excluded", "identity;q=0, gzip", "gzip"],
  ["identity excluded and nothing else listed", "identity;q=0", "identity"],
  ["everything excluded", "*;q=0", "identity"],
  ["an invalid weight", "br;q=2, gzip", "gzip"],
  ["empty entries", ", ,gzip,,", "gzip"],
])("for %s (%j) the coding is %s", (_, accepted, coding) => {
  expect(preferredCoding(accepted)).toBe(coding);
});
