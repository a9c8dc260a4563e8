import { execFile, spawn, type ChildProcess } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "@brand-records/postgres/embedded";
import { eventually } from "@brand-records/testkit";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { parse } from "yaml";
import { callContext, startStack, type Stack } from "../stack.ts";

/** One promise: what docs/webhooks.md shows is what is sent, and its programs take that and nothing else. */

const run = promisify(execFile);

const TYPES = ["submission.approved", "submission.rejected", "payout.paid", "campaign.settled"];
/** As the programs have it. */
const CONFIGURED = new Set(["payout.paid", "campaign.settled"]);

let page: string;
let directory: string;
beforeAll(async () => {
  page = await readFile("docs/webhooks.md", "utf8");
  directory = await mkdtemp(join(tmpdir(), "webhook-docs-"));
});
afterAll(() => rm(directory, { recursive: true }));

/** The fenced blocks of a language. */
const blocks = (language: string): string[] =>
  [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, found]) => found === language).map(([, , code = ""]) => code);

interface Body {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  readonly brand_id: string;
  readonly test: boolean;
  readonly dashboard_url: string;
  readonly data: Record<string, unknown>;
}

const bodies = (): Body[] => blocks("json").map((block) => JSON.parse(block) as Body);

/** What the code in use makes of a request, in a process of its own: that code is compiled to ES modules. */
async function asSent(body: Body, secret: string, timestampSeconds: number): Promise<{ body: string; headers: Record<string, string> }> {
  const script = `
    import { eventBody } from "./services/webhook/dist/sending/event-body.js";
    import { signatureHeaders } from "./services/webhook/dist/domain/signature.js";
    const { shown, secret, timestampSeconds } = JSON.parse(process.argv[1]);
    const { id, type, created_at, brand_id, test, dashboard_url, data } = shown;
    const parts = { event_id: id, type, event_created_at: created_at, brand_id, test, data: JSON.stringify(data) };
    const body = eventBody(parts, new URL(dashboard_url).origin);
    const headers = signatureHeaders({ eventId: id, eventType: type, body, timestampSeconds, attempt: 1, secrets: [secret], headerWord: "Service" });
    process.stdout.write(JSON.stringify({ body: body.toString(), headers }));`;
  const given = JSON.stringify({ shown: body, secret, timestampSeconds });
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script, given]);
  return JSON.parse(stdout) as { body: string; headers: Record<string, string> };
}

describe("the bodies shown", () => {
  it("are one of each type, with exactly the fields that are sent, in their order", async () => {
    expect(bodies().map(({ type }) => type)).toEqual(TYPES);
    for (const shown of bodies()) {
      const sent = await asSent(shown, "whsec_", 0);
      expect(JSON.parse(sent.body)).toEqual(shown);
      expect(sent.body).toBe(JSON.stringify(shown));
    }
  });

  it("are events, as the schema of docs/schemas has them", async () => {
    const ajv = new Ajv2020({ allErrors: true });
    (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
    const accepts = ajv.compile(JSON.parse(await readFile("docs/schemas/brand-event.schema.json", "utf8")) as object);
    for (const shown of bodies()) expect({ valid: accepts(shown), errors: accepts.errors }).toEqual({ valid: true, errors: null });
  });
});

it("the request shown is what is sent, signed by the secret shown", async () => {
  const [request = ""] = blocks("http");
  const [head = "", body = ""] = request.trimEnd().split("\n\n");
  const headers = Object.fromEntries(
    head
      .split("\n")
      .slice(1)
      .map((line) => line.split(": ") as [string, string]),
  );
  const [secret = ""] = /whsec_[A-Za-z0-9+/]{43}=/.exec(page) ?? [];
  const shown = bodies().find(({ type }) => type === headers["X-Service-Event"]) as Body;
  const sent = await asSent(shown, secret, Number(headers["X-Service-Timestamp"]));
  expect(body).toBe(sent.body);
  expect(headers).toEqual({
    Host: "hooks.brand.example",
    "Content-Type": "application/json",
    "User-Agent": "BrandRecords-Webhooks/1.0",
    ...sent.headers,
  });
});

describe("a running system", () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack({ env: { RECEIVERS_ON_LOOPBACK: "true", PUBLIC_URL: "https://records.example" } });
  });
  afterAll(() => stack.stop());

  it("sends tests of each type with the headers and fields shown", async () => {
    const arrived: { headers: IncomingHttpHeaders; body: string }[] = [];
    const server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
      request.on("end", () => {
        arrived.push({ headers: request.headers, body });
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { id: brand_id } = await stack.createBrand();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`;
    const made = await stack.receivers.createReceiver({ brand_id, url, label: "Docs", events: TYPES }, callContext());
    const receiver_id = made.receiver?.id ?? "";
    for (const type of TYPES) await stack.receivers.sendTest({ brand_id, receiver_id, type }, callContext());
    await eventually(() => expect(arrived).toHaveLength(TYPES.length));
    server.closeAllConnections();
    server.close();
    const [, head = ""] = /^```http\n.*?\n(.*?)\n\n/ms.exec(page) ?? [];
    const headersShown = head.split("\n").map((line) => line.slice(0, line.indexOf(":")).toLowerCase());
    for (const { headers, body } of arrived) {
      const sent = JSON.parse(body) as Body;
      const shown = bodies().find(({ type }) => type === sent.type) as Body;
      expect(Object.keys(sent)).toEqual(Object.keys(shown));
      expect(Object.keys(sent.data).toSorted()).toEqual(Object.keys(shown.data).toSorted());
      expect(sent).toMatchObject({ test: true, dashboard_url: `https://records.example/developers/events/${sent.id}` });
      const { connection: _, "content-length": __, traceparent: ___, ...others } = headers;
      expect(Object.keys(others).toSorted()).toEqual(headersShown.toSorted());
      const signed = `${headers["x-service-timestamp"] as string}.${body}`;
      expect(headers["x-service-signature"]).toBe(`sha256=${createHmac("sha256", made.secret).update(signed).digest("hex")}`);
    }
  });

  it("describes each type with the body shown, which is as it describes it", async () => {
    const document = parse(await (await fetch(`${stack.url}/openapi/service.yaml`)).text()) as {
      webhooks: Record<string, { post: { requestBody: { content: Record<string, { schema: object; example: unknown }> } } }>;
    };
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
    for (const shown of bodies()) {
      const described = document.webhooks[shown.type]?.post.requestBody.content["application/json"];
      expect(described?.example).toEqual(shown);
      const accepts = ajv.compile(described?.schema ?? false);
      expect({ valid: accepts(shown), errors: accepts.errors }).toEqual({ valid: true, errors: null });
    }
  });
});

it("the table of attempts adds up", () => {
  const seconds = (text: string): number =>
    [...text.matchAll(/(\d+) (s|min|h)\b/g)].reduce(
      (sum, [, count, unit]) => sum + Number(count) * { s: 1, min: 60, h: 3_600 }[unit as "s"],
      0,
    );
  const rows = [...page.matchAll(/^\| (\d+) +\| (.+?) +\| (.*?) *\|$/gm)].map(([, attempt, pause = "", since = ""]) => ({
    attempt,
    pause,
    since,
  }));
  expect(rows).toHaveLength(10);
  let total = 0;
  for (const { pause, since } of rows) {
    total += seconds(pause);
    // Told in minutes once there are some.
    expect(seconds(since)).toBe(total < 60 ? total : total - (total % 60));
  }
});

const SECRET = `whsec_${randomBytes(32).toString("base64")}`;
const NEXT_SECRET = `whsec_${randomBytes(32).toString("base64")}`;

interface Language {
  readonly name: string;
  /** Of the fenced block. */
  readonly fence: string;
  /** On the PATH; without it the program is not run. */
  readonly tool: string;
  readonly file: string;
  /** The command that serves the file. */
  serve(file: string, port: number): Promise<readonly [command: string, ...parameters: string[]]>;
}

/** A Rack server of a dozen lines: one request at a time, and as much of HTTP as the test sends. */
const RACK = `
require "socket"
require "stringio"
def run(app) = ($app = app)
load ARGV[0]
server = TCPServer.new("127.0.0.1", Integer(ARGV[1]))
loop do
  client = server.accept
  env = {}
  env["REQUEST"] = client.gets or next client.close
  while (line = client.gets("\\r\\n", chomp: true)) && line != ""
    name, value = line.split(": ", 2)
    env["HTTP_#{name.upcase.tr("-", "_")}"] = value
  end
  env["rack.input"] = StringIO.new(client.read(env["HTTP_CONTENT_LENGTH"].to_i).to_s.b)
  status, = $app.call(env)
  client.write("HTTP/1.1 #{status} .\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n")
  client.close
end
`;

const LANGUAGES: readonly Language[] = [
  { name: "Node.js", fence: "js", tool: "node", file: "receiver.mjs", serve: async (file) => [process.execPath, file] },
  { name: "Python", fence: "python", tool: "python3", file: "receiver.py", serve: async (file) => ["python3", "-u", file] },
  {
    name: "Go",
    fence: "go",
    tool: "go",
    file: "receiver.go",
    async serve(file) {
      const program = join(directory, "receiver");
      await run("go", ["build", "-o", program, file], { env: { ...environment(), GOFLAGS: "-mod=mod", GOTOOLCHAIN: "local" } });
      return [program];
    },
  },
  {
    name: "PHP",
    fence: "php",
    tool: "php",
    file: "receiver.php",
    serve: async (file, port) => ["php", "-S", `127.0.0.1:${port}`, file],
  },
  {
    name: "Ruby",
    fence: "ruby",
    tool: "ruby",
    file: "config.ru",
    async serve(file, port) {
      const rack = join(directory, "rack.rb");
      await writeFile(rack, RACK);
      return ["ruby", rack, file, String(port)];
    },
  },
];

const environment = (): Record<string, string> => ({ PATH: process.env["PATH"] ?? "", HOME: homedir() });

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const folders = (process.env["PATH"] ?? "").split(":");
const isHere = ({ tool }: Language): boolean => folders.some((folder) => isProgram(join(folder, tool)));
const present = LANGUAGES.filter(isHere);
const absent = LANGUAGES.filter((language) => !isHere(language));

const named = (languages: readonly Language[]): string => languages.map(({ name }) => name).join(", ") || "none";
process.stderr.write(`docs/webhooks.md: its programs are run in ${named(present)}; not run, for want of the tool: ${named(absent)}\n`);

interface Signed {
  readonly secret?: string;
  /** Of the timestamp. */
  readonly secondsAhead?: number;
  /** What is signed; the body itself unless given. */
  readonly signed?: string;
  /** Changes after signing; undefined leaves a header out. */
  readonly headers?: Record<string, string | undefined>;
}

/** By hand, as the specification has it (6.3). */
function post(
  url: string,
  body: string,
  { secret = SECRET, secondsAhead = 0, signed = body, headers = {} }: Signed = {},
): Promise<Response> {
  // Rounded up: the receiver's clock is a little ahead by the time it looks.
  const timestamp = String(Math.ceil(Date.now() / 1_000) + secondsAhead);
  const all: Record<string, string | undefined> = {
    "content-type": "application/json",
    "x-service-event": /"type":"([^"]+)"/.exec(body)?.[1],
    "x-service-timestamp": timestamp,
    "x-service-signature": `sha256=${createHmac("sha256", secret).update(`${timestamp}.${signed}`).digest("hex")}`,
    "x-service-attempt": "1",
    ...headers,
  };
  const sent = Object.entries(all).filter((header): header is [string, string] => header[1] !== undefined);
  return fetch(url, { method: "POST", body, headers: sent });
}

const withSignature = (change: (signature: string) => string, body: string): Signed => {
  const timestamp = String(Math.ceil(Date.now() / 1_000));
  const signature = `sha256=${createHmac("sha256", SECRET).update(`${timestamp}.${body}`).digest("hex")}`;
  return { headers: { "x-service-timestamp": timestamp, "x-service-signature": change(signature) } };
};

const CASES: readonly (readonly [what: string, status: number, how: (body: string) => Signed])[] = [
  ["a valid delivery", 204, () => ({})],
  ["one by the next secret", 204, () => ({ secret: NEXT_SECRET })],
  ["a later attempt", 204, () => ({ headers: { "x-service-attempt": "10" } })],
  ["a timestamp 295 s old", 204, () => ({ secondsAhead: -296 })],
  ["a timestamp 295 s ahead", 204, () => ({ secondsAhead: 295 })],
  ["a timestamp 301 s old", 401, () => ({ secondsAhead: -302 })],
  ["a timestamp 301 s ahead", 401, () => ({ secondsAhead: 301 })],
  ["a wrong secret", 401, () => ({ secret: `whsec_${randomBytes(32).toString("base64")}` })],
  ["no secret at all", 401, () => ({ secret: "" })],
  ["the secret without its prefix", 401, () => ({ secret: SECRET.slice("whsec_".length) })],
  ["a changed body", 401, (body) => ({ signed: body.replace("241000", "241001").replace("24310000", "24310001") })],
  [
    "a timestamp that was not signed",
    401,
    (body) => {
      const { headers } = withSignature((signature) => signature, body);
      return { headers: { ...headers, "x-service-timestamp": String(Number(headers?.["x-service-timestamp"]) - 1) } };
    },
  ],
  ["no timestamp", 401, () => ({ headers: { "x-service-timestamp": undefined } })],
  ["a timestamp in words", 401, () => ({ headers: { "x-service-timestamp": "now" } })],
  ["a timestamp with a fraction", 401, () => ({ headers: { "x-service-timestamp": `${Math.ceil(Date.now() / 1_000)}.0` } })],
  ["no signature", 401, () => ({ headers: { "x-service-signature": undefined } })],
  ["an empty signature", 401, () => ({ headers: { "x-service-signature": "" } })],
  ["hex of odd length", 401, (body) => withSignature((signature) => signature.slice(0, -1), body)],
  ["half a digest", 401, (body) => withSignature((signature) => signature.slice(0, 39), body)],
  ["a digest and more", 401, (body) => withSignature((signature) => `${signature}00`, body)],
  ["a prefix in capitals", 401, (body) => withSignature((signature) => signature.replace("sha256", "SHA256"), body)],
  ["no prefix", 401, (body) => withSignature((signature) => signature.replace("sha256=", ""), body)],
  ["what is not hex", 401, () => ({ headers: { "x-service-signature": `sha256=${"zz".repeat(32)}` } })],
  ["no event header", 401, () => ({ headers: { "x-service-event": undefined } })],
];

describe.each(present)("the program in $name", (language) => {
  let child: ChildProcess;
  let url: string;
  let output = "";
  beforeAll(async () => {
    const file = join(directory, language.file);
    await writeFile(file, blocks(language.fence)[0] ?? "");
    const port = await freePort();
    const [command, ...parameters] = await language.serve(file, port);
    const env = { ...environment(), PORT: String(port), WEBHOOK_SECRET: `${SECRET},${NEXT_SECRET}` };
    child = spawn(command, parameters, { env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", (text: string) => (output += text));
    url = `http://127.0.0.1:${port}/`;
    await eventually(() => fetch(url, { method: "POST", body: "{}" }));
  }, 120_000);
  afterAll(async () => {
    const ended = once(child, "close");
    child.kill("SIGKILL");
    await ended;
  });

  const shown = (type: string): string => JSON.stringify(bodies().find((body) => body.type === type));

  it.each(CASES)("answers to %s %i", async (_, status, how) => {
    const body = shown("payout.paid");
    expect({ status: (await post(url, body, how(body))).status, output }).toMatchObject({ status });
  });

  it.each(TYPES)("takes %s only if it is configured", async (type) => {
    expect((await post(url, shown(type))).status).toBe(CONFIGURED.has(type) ? 204 : 422);
  });

  it("goes by the type that is signed, not by that of the header", async () => {
    const headers = { "x-service-event": "payout.paid" };
    expect((await post(url, shown("submission.approved"), { headers })).status).toBe(401);
  });

  it("takes what is not ASCII, byte for byte", async () => {
    const mended = shown("payout.paid").replace('"data":{', '"data":{"more":"Niño 😀", ');
    expect((await post(url, mended)).status).toBe(204);
    expect((await post(url, mended, { signed: JSON.stringify(JSON.parse(mended)) })).status).toBe(401);
  });

  it("does not read on beyond 64 KiB", async () => {
    // Some close the connection at that.
    const status = await post(url, JSON.stringify({ type: "payout.paid", more: "x".repeat(100_000) })).then(
      (answer) => answer.status,
      () => 413,
    );
    expect(status).toBe(413);
    expect((await post(url, shown("payout.paid"))).status).toBe(204);
  });
});

it("the program with a library of Standard Webhooks takes what is sent, and nothing else", async () => {
  const [, program = ""] = blocks("js");
  const verify = async (headers: object, body: string): Promise<string> => {
    const script = `${program}
      const { headers, body } = JSON.parse(process.argv[1]);
      try { process.stdout.write(verifiedEvent(headers, body).id); } catch (error) { process.stdout.write(error.name); }`;
    const env = { ...environment(), WEBHOOK_SECRET: SECRET };
    const given = JSON.stringify({ headers, body });
    return (await run(process.execPath, ["--input-type=module", "--eval", script, given], { env })).stdout;
  };
  const [shown] = bodies() as [Body];
  const { headers, body } = await asSent(shown, SECRET, Math.floor(Date.now() / 1_000));
  expect(await verify(headers, body)).toBe(shown.id);
  expect(await verify(headers, body.replace("approved", "rejected"))).toBe("WebhookVerificationError");
  const { headers: others } = await asSent(shown, NEXT_SECRET, Math.floor(Date.now() / 1_000));
  expect(await verify(others, body)).toBe("WebhookVerificationError");
  const { headers: old } = await asSent(shown, SECRET, Math.floor(Date.now() / 1_000) - 301);
  expect(await verify(old, body)).toBe("WebhookVerificationError");
});
