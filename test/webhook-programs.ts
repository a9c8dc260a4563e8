import { spawn, execFile, type ChildProcess } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { EVENT_TYPE_NAMES } from "@brand-records/resources";
import { freePort } from "@brand-records/postgres/embedded";
import { eventually } from "@brand-records/testkit";
import { brandRecords } from "./command-line.ts";
import { blocks, bodies } from "./webhook-page.ts";

const run = promisify(execFile);

/** The events that the programs are configured for. */
const CONFIGURED = new Set(["payout.paid", "campaign.settled"]);

const SECRET = `whsec_${randomBytes(32).toString("base64")}`;
const NEXT_SECRET = `whsec_${randomBytes(32).toString("base64")}`;

interface Language {
  /** Folder of the file; undefined if docs/webhooks.md shows the program. */
  readonly folder?: string;
  readonly file: string;
  /** Returns the command that serves the file. */
  serve(file: string, port: number): Promise<readonly [command: string, ...parameters: string[]]>;
}

/** A minimal Rack server: one request at a time, and only as much HTTP as the test needs. */
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

/** Programs that docs/webhooks.md links to. */
const folder = "examples/receivers";

const LANGUAGES = {
  node: { file: "receiver.mjs", serve: async (file) => [process.execPath, file] },
  python: { folder, file: "receiver.py", serve: async (file) => ["python3", "-u", file] },
  go: {
    folder,
    file: "receiver.go",
    async serve(file) {
      const program = join(dirname(file), "receiver");
      await run("go", ["build", "-o", program, file], { env: { ...environment(), GOFLAGS: "-mod=mod", GOTOOLCHAIN: "local" } });
      return [program];
    },
  },
  php: { folder, file: "receiver.php", serve: async (file, port) => ["php", "-S", `127.0.0.1:${port}`, file] },
  ruby: {
    folder,
    file: "config.ru",
    async serve(file, port) {
      const rack = join(dirname(file), "rack.rb");
      await writeFile(rack, RACK);
      return ["ruby", rack, file, String(port)];
    },
  },
} as const satisfies Record<string, Language>;

const environment = (): Record<string, string> => ({ PATH: process.env["PATH"] ?? "", HOME: homedir() });

interface Signed {
  readonly secret?: string;
  /** Shifts the timestamp. */
  readonly secondsAhead?: number;
  /** The signed text. Default: the body. */
  readonly signed?: string;
  /** Applied after signing; undefined omits a header. */
  readonly headers?: Record<string, string | undefined>;
}

/** Sends a delivery, signed without a library as the specification requires (6.3). */
function post(
  url: string,
  body: string,
  { secret = SECRET, secondsAhead = 0, signed = body, headers = {} }: Signed = {},
): Promise<Response> {
  // Rounded up: the receiver checks it slightly later.
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

const CASES: readonly (readonly [name: string, status: number, sign: (body: string) => Signed])[] = [
  ["a valid delivery", 204, () => ({})],
  ["a delivery signed with the next secret", 204, () => ({ secret: NEXT_SECRET })],
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
  ["a timestamp that is not a number", 401, () => ({ headers: { "x-service-timestamp": "now" } })],
  ["a timestamp with a fraction", 401, () => ({ headers: { "x-service-timestamp": `${Math.ceil(Date.now() / 1_000)}.0` } })],
  ["no signature", 401, () => ({ headers: { "x-service-signature": undefined } })],
  ["an empty signature", 401, () => ({ headers: { "x-service-signature": "" } })],
  ["hex of odd length", 401, (body) => withSignature((signature) => signature.slice(0, -1), body)],
  ["half a digest", 401, (body) => withSignature((signature) => signature.slice(0, 39), body)],
  ["a digest that is too long", 401, (body) => withSignature((signature) => `${signature}00`, body)],
  ["a prefix in capitals", 401, (body) => withSignature((signature) => signature.replace("sha256", "SHA256"), body)],
  ["no prefix", 401, (body) => withSignature((signature) => signature.replace("sha256=", ""), body)],
  ["a signature that is not hex", 401, () => ({ headers: { "x-service-signature": `sha256=${"zz".repeat(32)}` } })],
  ["no event header", 401, () => ({ headers: { "x-service-event": undefined } })],
];

/** Declares the tests of a program of docs/webhooks.md: it accepts what is sent, and nothing else. */
export function describeWebhookProgram(name: keyof typeof LANGUAGES): void {
  describe(`the program in ${name}`, () => itVerifies(LANGUAGES[name]));
}

function itVerifies(language: Language): void {
  let directory: string;
  let child: ChildProcess;
  let url: string;
  let output = "";
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "webhook-program-"));
    const file = join(directory, language.file);
    await writeFile(file, language.folder === undefined ? (blocks("js")[0] ?? "") : await readFile(join(language.folder, language.file)));
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
    await rm(directory, { recursive: true });
  });

  const exampleOf = (type: string): string => JSON.stringify(bodies().find((body) => body.type === type));

  it.each(CASES)("given %s responds %i", async (_, status, sign) => {
    const body = exampleOf("payout.paid");
    expect({ status: (await post(url, body, sign(body))).status, output }).toMatchObject({ status });
  });

  it.each(EVENT_TYPE_NAMES)("accepts %s only if it is configured", async (type) => {
    expect((await post(url, exampleOf(type))).status).toBe(CONFIGURED.has(type) ? 204 : 422);
  });

  it("trusts the signed type, not that of the header", async () => {
    const headers = { "x-service-event": "payout.paid" };
    expect((await post(url, exampleOf("submission.approved"), { headers })).status).toBe(401);
  });

  it("verifies non-ASCII bodies byte for byte", async () => {
    const extended = exampleOf("payout.paid").replace('"data":{', '"data":{"more":"Niño 😀", ');
    expect((await post(url, extended)).status).toBe(204);
    expect((await post(url, extended, { signed: JSON.stringify(JSON.parse(extended)) })).status).toBe(401);
  });

  it("keeps every rule that brand-records receivers prove checks", async () => {
    const [secret, next] = [join(directory, "secret"), join(directory, "next")];
    await writeFile(secret, SECRET);
    await writeFile(next, NEXT_SECRET);
    const secrets = ["--secret-file", secret, "--next-secret-file", next];
    const { code, stdout } = await brandRecords(["receivers", "prove", "--to", url, ...secrets, "--live", "--json"]);
    const { rules } = JSON.parse(stdout) as { rules: { id: string; result: string; observed: string }[] };
    expect(rules.filter(({ result }) => result !== "kept").map(({ id, result }) => [id, result])).toEqual([
      ["twice", "look"],
      ["at_once", "look"],
    ]);
    expect(code).toBe(0);
  });

  it("reads at most 64 KiB", async () => {
    // Some programs close the connection.
    const status = await post(url, JSON.stringify({ type: "payout.paid", more: "x".repeat(100_000) })).then(
      (response) => response.status,
      () => 413,
    );
    expect(status).toBe(413);
    expect((await post(url, exampleOf("payout.paid"))).status).toBe(204);
  });
}
