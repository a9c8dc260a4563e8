import { createHook } from "node:async_hooks";
import { once } from "node:events";
import { createServer, request, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import express from "express";
import { staticAnswer } from "./static-answer.ts";

const LARGE = "Ang larawan ng isang tala. ".repeat(400);
const SMALL = "Kumusta";

let server: Server;

beforeAll(async () => {
  const app = express();
  app.all("/large", staticAnswer(LARGE, { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "public, max-age=300" }));
  app.all("/once", staticAnswer(LARGE, { "Content-Type": "text/plain; charset=utf-8" }));
  app.all("/small", staticAnswer(SMALL, { "Content-Type": "text/plain; charset=utf-8" }));
  server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(async () => {
  server.close();
  await once(server, "close");
});

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

async function get(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> {
  const { port } = server.address() as AddressInfo;
  const sent = request({ port, path, method, headers, agent: false }).end();
  const [answer] = await once(sent, "response");
  return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer) };
}

const READ = { br: brotliDecompressSync, gzip: gunzipSync, identity: (body: Buffer) => body };

describe.each(["br", "gzip", "identity"] as const)("to a client that accepts %s", (coding) => {
  const accept = { "accept-encoding": coding };

  it("sends what was compressed before, with its length, a strong tag, and a note to caches", async () => {
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
  });

  it("sends the same headers to HEAD, and no body", async () => {
    const [{ headers: got }, head] = [await get("/large", accept), await get("/large", accept, "HEAD")];
    expect(head.status).toBe(200);
    expect({ ...head.headers, date: "" }).toEqual({ ...got, date: "" });
    expect(head.body).toHaveLength(0);
  });

  it.each([
    ["its tag", (etag: string) => etag],
    ["its tag made weak by a cache", (etag: string) => `W/${etag}`],
    ["a list with its tag", (etag: string) => `"other", W/"another" ,${etag}`],
    ["*", () => "*"],
  ])("answers 304 without a body to %s", async (_, ifNoneMatch) => {
    const { etag = "" } = (await get("/large", accept)).headers;
    for (const method of ["GET", "HEAD"]) {
      const { status, headers, body } = await get("/large", { ...accept, "if-none-match": ifNoneMatch(etag) }, method);
      expect({ status, etag: headers.etag, body: body.toString() }).toEqual({ status: 304, etag, body: "" });
      expect(headers).toMatchObject({ vary: "Accept-Encoding", "cache-control": "public, max-age=300" });
      expect(headers["content-length"]).toBeUndefined();
    }
  });

  it.each(['"other"', "", "nonsense", '"', 'W/"other", "another"'])("sends all of it when the client knows another: %j", async (known) => {
    const { status, body } = await get("/large", { ...accept, "if-none-match": known });
    expect(status).toBe(200);
    expect(READ[coding](body).toString()).toBe(LARGE);
  });
});

it("is compressed once for each coding, however many ask for it first", async () => {
  let compressions = 0;
  const hook = createHook({ init: (_, type) => void (compressions += type === "ZLIB" ? 1 : 0) }).enable();
  const askAll = () =>
    Promise.all(
      ["br", "gzip", "identity"].flatMap((coding) => Array.from({ length: 10 }, () => get("/once", { "accept-encoding": coding }))),
    );
  const answers = [...(await askAll()), ...(await askAll())];
  hook.disable();
  expect(compressions).toBe(2);
  expect(new Set(answers.map(({ headers, body }) => `${headers.etag} ${body.toString("base64")}`)).size).toBe(3);
});

it("has a tag of its own for each coding, as caches keep them side by side", async () => {
  const answers = await Promise.all(Object.keys(READ).map((coding) => get("/large", { "accept-encoding": coding })));
  expect(new Set(answers.map(({ headers }) => headers.etag)).size).toBe(3);
  const [br] = answers;
  expect((await get("/large", { "accept-encoding": "gzip", "if-none-match": br?.headers.etag ?? "" })).status).toBe(200);
});

it("sends little as it is, whatever the client accepts", async () => {
  const { headers, body } = await get("/small", { "accept-encoding": "gzip, br" });
  expect(body.toString()).toBe(SMALL);
  expect(headers["content-encoding"]).toBeUndefined();
  expect(headers.vary).toBeUndefined();
  expect((await get("/small", { "if-none-match": headers.etag ?? "" })).status).toBe(304);
});
