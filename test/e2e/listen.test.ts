import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { signDelivery } from "@brand-records/client/signing";
import { eventually } from "@brand-records/testkit";
import { brandRecords, brandRecordsProcess, type Ended } from "../command-line.ts";
import { startReceivers, type ReceiverServer } from "../receivers.ts";

/** One promise: `brand-records listen` takes in what is verified and nothing else, and forwards it as it came. */

const SECRET = `whsec_${randomBytes(32).toString("base64")}`;
/** Written otherwise than JSON.stringify would. */
const BODY = ' {"id":"evt_1", "type":"payout.paid","test":true,"data":{"id":"po_1","note":"ñ \\u00f1"}}\n';

interface Listening {
  readonly url: string;
  readonly child: ChildProcess;
  /** What it has printed. */
  readonly printed: { stdout: string };
  readonly ended: Promise<Ended>;
}

let folder: string;
let receiver: ReceiverServer;
/** Responds for the receiver that is forwarded to; undefined: with 204. */
let respond: ((response: ServerResponse) => void) | undefined;
let listening: Listening;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "listen-"));
  await writeFile(join(folder, "secret"), SECRET);
  receiver = await startReceivers((_, response) => {
    if (respond === undefined) return [204];
    respond(response);
    return undefined;
  });
  listening = await listen("--forward-to", `${receiver.url}hooks?a=b`, "--timeout", "0.3");
});
beforeEach(() => {
  respond = undefined;
  receiver.requests.length = 0;
});
afterAll(async () => {
  listening.child.kill("SIGKILL");
  receiver.stop();
  await rm(folder, { recursive: true });
});

const withSecret = (...args: readonly string[]): string[] => ["listen", "--secret-file", join(folder, "secret"), "--port", "0", ...args];

async function listen(...args: readonly string[]): Promise<Listening> {
  const started = Promise.withResolvers<string>();
  const printed = { stdout: "" };
  let running: ChildProcess | undefined;
  const ended = brandRecordsProcess(withSecret(...args), {
    onStart: (child) => {
      running = child;
      child.stdout.on("data", (chunk: Buffer) => (printed.stdout += chunk.toString()));
      child.stderr.on("data", (chunk: Buffer) => {
        const [url] = /http:\/\/127\.0\.0\.1:\d+\//.exec(chunk.toString()) ?? [];
        if (url !== undefined) started.resolve(url);
      });
    },
  });
  ended.then(
    ({ stderr }) => started.reject(new Error(`it ended: ${stderr}`)),
    () => {},
  );
  return { url: await started.promise, child: running as ChildProcess, printed, ended };
}

/** @returns the status of the response */
async function deliver(
  url: string,
  body: string | Buffer = BODY,
  headers?: Readonly<Record<string, string | string[]>>,
  method = "POST",
): Promise<number> {
  const signed = headers ?? (await signDelivery(body, SECRET));
  const sent = request(url, { method, agent: false, headers: { ...signed, "Content-Length": Buffer.byteLength(body) } });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode ?? 0;
}

it("forwards the bytes and headers of a verified delivery as they came, answers with the status, and prints a line", async () => {
  respond = (response) => response.writeHead(422).end();
  const headers = { ...(await signDelivery(BODY, SECRET, { attempt: 3 })), "X-Custom": ["one", "two"], TE: "trailers" };
  expect(await deliver(listening.url, BODY, headers)).toBe(422);
  const [forwarded] = receiver.requests;
  expect({ url: forwarded?.url, body: forwarded?.body }).toEqual({ url: "/hooks?a=b", body: BODY });
  const { TE: _, ...kept } = headers;
  const lowerCase = Object.fromEntries(Object.entries(kept).map(([name, value]) => [name.toLowerCase(), [value].flat().join(", ")]));
  expect(forwarded?.headers).toEqual({
    ...lowerCase,
    host: new URL(receiver.url).host,
    connection: expect.any(String),
    "content-length": String(Buffer.byteLength(BODY)),
  });
  await eventually(() =>
    expect(listening.printed.stdout).toMatch(
      /^\d\d:\d\d:\d\d {2}payout\.paid {2}evt_1 {2}po_1 {2}test {2}verified, refused \(422, \d+ ms\)\n$/,
    ),
  );
});

it.each<[string, () => Promise<number>, number]>([
  ["a wrong signature", async () => deliver(listening.url, `${BODY} `, await signDelivery(BODY, SECRET)), 401],
  ["no signature", () => deliver(listening.url, BODY, {}), 401],
  ["another time", async () => deliver(listening.url, BODY, await signDelivery(BODY, SECRET, { timestamp: 1_795_227_310 })), 401],
  ["a body of more than 64 KiB", () => deliver(listening.url, Buffer.alloc(64 * 1024 + 1), {}), 413],
  ["another method", () => deliver(listening.url, "", {}, "GET"), 405],
])("refuses %s, and forwards nothing", async (_, send, status) => {
  const before = listening.printed.stdout;
  expect(await send()).toBe(status);
  expect(receiver.requests).toEqual([]);
  await eventually(() =>
    expect(listening.printed.stdout.slice(before.length)).toMatch(new RegExp(`^\\d\\d:\\d\\d:\\d\\d  refused \\(${status}\\)  .+\n$`)),
  );
});

it("answers with 504 if the receiver stalls, and with 502 if it gives no response, so that the service sends the event again", async () => {
  respond = (response) => void response.writeHead(200).write("begun");
  expect(await deliver(listening.url)).toBe(504);
  respond = (response) => void response.destroy();
  expect(await deliver(listening.url)).toBe(502);
  respond = ({ socket }) => void socket?.end("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n");
  expect(await deliver(listening.url)).toBe(502);
});

it("answers with the time after which the receiver wants the event again", async () => {
  respond = (response) => response.writeHead(503, { "retry-after": "120" }).end();
  const response = await fetch(listening.url, { method: "POST", body: BODY, headers: await signDelivery(BODY, SECRET) });
  expect([response.status, response.headers.get("retry-after")]).toEqual([503, "120"]);
});

it("accepts without a receiver, with --json as lines, until Ctrl-C ends it cleanly", async () => {
  const { url, child, ended } = await listen("--json");
  expect(await deliver(url)).toBe(204);
  expect(await deliver(url, BODY, {})).toBe(401);
  child.kill("SIGINT");
  const { code, stdout, stderr } = await ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: `${JSON.stringify({ listening: url })}\n` });
  const common = { received_at: expect.any(String), forwarded: null };
  expect(
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as object),
  ).toEqual([
    { ...common, verified: true, status: 204, reason: null, event: JSON.parse(BODY) as object },
    { ...common, verified: false, status: 401, reason: expect.stringContaining("not verified: neither X-Service-Signature"), event: null },
  ]);
});

it("ends while it waits for a receiver, and when nothing reads its lines any more", async () => {
  const busy = await listen("--forward-to", receiver.url);
  const forwarded = new Promise<void>((resolve) => (respond = () => resolve()));
  const cut = deliver(busy.url).catch((error: NodeJS.ErrnoException) => error.code);
  await forwarded;
  busy.child.kill("SIGTERM");
  expect(await busy.ended).toMatchObject({ code: 0 });
  expect(await cut).toBe("ECONNRESET");

  const unread = await listen();
  unread.child.stdout?.destroy();
  const closed = once(unread.child, "close");
  expect(await deliver(unread.url)).toBe(204);
  expect(await closed).toEqual([0, null]);
});

it("refuses a port that is in use, its own port to forward to, and arguments that are none", async () => {
  const { port } = new URL(listening.url);
  const refused = async (...args: string[]): Promise<[number | null, string]> => {
    const { code, stderr } = await brandRecords(withSecret(...args));
    return [code, stderr];
  };
  expect(await refused("--port", port)).toEqual([1, expect.stringContaining(`port ${port} of 127.0.0.1: the port is in use`)]);
  expect(await refused("--port", "70000")).toEqual([2, expect.stringContaining("--port must be")]);
  expect(await refused("--forward-to", "localhost:3000")).toEqual([2, expect.stringContaining("--forward-to must be a URL")]);
  const free = await listen();
  free.child.kill("SIGINT");
  await free.ended;
  const own = new URL(free.url).port;
  expect(await refused("--port", own, "--forward-to", `http://localhost:${own}/`)).toEqual([
    2,
    expect.stringContaining("where the command itself listens"),
  ]);
});
