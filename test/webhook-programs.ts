import { spawn, execFile } from "node:child_process";
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

/** A mistake that a person would make in the program, what it replaces, and the rule that it breaks. */
type Mistake = readonly [mistake: string, rule: string, right: string, wrong: string];

interface Language {
  /** Folder of the file; undefined if docs/webhooks.md shows the program. */
  readonly folder?: string;
  readonly file: string;
  /** Returns the command that serves the file. */
  serve(file: string, port: number): Promise<readonly [command: string, ...parameters: string[]]>;
  readonly mistakes?: readonly Mistake[];
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
  python: {
    folder,
    file: "receiver.py",
    serve: async (file) => ["python3", "-u", file],
    mistakes: [
      ["compares the beginning", "wrong_signature", "hmac.compare_digest(signature, digest)", "digest.startswith(signature[:39])"],
      ["strips the body", "altered", 'b"." + body', 'b"." + body.strip()'],
      [
        "takes timedelta.seconds for the whole difference",
        "stale",
        "abs(time.time() - int(timestamp)) > 300",
        '(__import__("datetime").timedelta(seconds=time.time() - int(timestamp))).seconds > 300',
      ],
    ],
  },
  go: {
    folder,
    file: "receiver.go",
    async serve(file) {
      const program = join(dirname(file), "receiver");
      await run("go", ["build", "-o", program, file], { env: { ...environment(), GOFLAGS: "-mod=mod", GOTOOLCHAIN: "local" } });
      return [program];
    },
    mistakes: [
      ["compares the beginning", "wrong_signature", "hmac.Equal(given, digest.Sum(nil))", "hmac.Equal(given[:16], digest.Sum(nil)[:16])"],
      ["forgets the absolute value", "future", "time.Since(time.Unix(seconds, 0)).Abs()", "time.Since(time.Unix(seconds, 0))"],
      ["takes every type", "unknown_type", "!types[got.Type]", 'got.Type == ""'],
    ],
  },
  php: {
    folder,
    file: "receiver.php",
    serve: async (file, port) => ["php", "-S", `127.0.0.1:${port}`, file],
    mistakes: [
      ["compares the beginning", "wrong_signature", "hash_equals($digest, $signature)", "strncmp($digest, $signature, 39) === 0"],
      ["trims the body", "altered", '"$timestamp.$body"', '"$timestamp." . trim($body)'],
      ["forgets the absolute value", "future", "abs(time() - (int) $timestamp)", "(time() - (int) $timestamp)"],
    ],
  },
  ruby: {
    folder,
    file: "config.ru",
    async serve(file, port) {
      const rack = join(dirname(file), "rack.rb");
      await writeFile(rack, RACK);
      return ["ruby", rack, file, String(port)];
    },
    mistakes: [
      [
        "compares the beginning",
        "wrong_signature",
        "OpenSSL.fixed_length_secure_compare(digest, signature)",
        "digest.start_with?(signature[0, 39])",
      ],
      ["chomps the body", "altered", '"#{timestamp}.".b + body', '"#{timestamp}.".b + body.chomp'],
      ["takes every type", "unknown_type", 'unless TYPES.include?(event["type"])', "if event.empty?"],
    ],
  },
} as const satisfies Record<string, Language>;

const environment = (): Record<string, string> => ({ PATH: process.env["PATH"] ?? "", HOME: homedir() });

/** Sends a delivery, signed without a library as the specification requires (6.3). @param secondsAhead shifts the timestamp */
function post(url: string, body: string, secret = SECRET, secondsAhead = 0): Promise<Response> {
  // Rounded up: the receiver checks it slightly later.
  const timestamp = String(Math.ceil(Date.now() / 1_000) + secondsAhead);
  const headers = {
    "content-type": "application/json",
    "x-service-event": /"type":"([^"]+)"/.exec(body)?.[1] ?? "",
    "x-service-timestamp": timestamp,
    "x-service-signature": `sha256=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`,
    "x-service-attempt": "1",
  };
  return fetch(url, { method: "POST", body, headers });
}

/** The bounds of what it accepts. `receivers prove` sends what no receiver may mistake. */
const CASES: readonly (readonly [name: string, status: number, secret: string, secondsAhead: number])[] = [
  ["a timestamp 295 s old", 204, SECRET, -296],
  ["a timestamp 295 s ahead", 204, SECRET, 295],
  ["a timestamp 301 s old", 401, SECRET, -302],
  ["a timestamp 301 s ahead", 401, SECRET, 301],
  ["the secret without its prefix", 401, SECRET.slice("whsec_".length), 0],
];

/** Declares the tests of a program of docs/webhooks.md: it accepts what is sent, and nothing else. */
export function describeWebhookProgram(name: keyof typeof LANGUAGES): void {
  describe(`the program in ${name}`, () => itVerifies(LANGUAGES[name]));
}

interface Program {
  readonly url: string;
  readonly output: string;
  prove(): Promise<{ readonly code: number | null; readonly results: Readonly<Record<string, string>> }>;
  stop(): Promise<void>;
}

const sourceOf = async ({ folder: of, file }: Language): Promise<string> =>
  of === undefined ? (blocks("js")[0] ?? "") : readFile(join(of, file), "utf8");

async function startProgram(language: Language, source: string): Promise<Program> {
  const directory = await mkdtemp(join(tmpdir(), "webhook-program-"));
  const file = join(directory, language.file);
  await writeFile(file, source);
  const port = await freePort();
  const [command, ...parameters] = await language.serve(file, port);
  const env = { ...environment(), PORT: String(port), WEBHOOK_SECRET: `${SECRET},${NEXT_SECRET}` };
  const child = spawn(command, parameters, { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const url = `http://127.0.0.1:${port}/`;
  await eventually(() => fetch(url, { method: "POST", body: "{}" }));
  return {
    url,
    get output() {
      return output;
    },
    async prove() {
      const [secret, next] = [join(directory, "secret"), join(directory, "next")];
      await writeFile(secret, SECRET);
      await writeFile(next, NEXT_SECRET);
      const secrets = ["--secret-file", secret, "--next-secret-file", next];
      const { code, stdout } = await brandRecords(["receivers", "prove", "--to", url, ...secrets, "--live", "--json"]);
      const { rules } = JSON.parse(stdout) as { rules: { id: string; result: string }[] };
      return { code, results: Object.fromEntries(rules.filter(({ result }) => result !== "kept").map(({ id, result }) => [id, result])) };
    },
    async stop() {
      const ended = once(child, "close");
      child.kill("SIGKILL");
      await ended;
      await rm(directory, { recursive: true });
    },
  };
}

/** What HTTP cannot show. */
const LOOKS = { twice: "look", at_once: "look", later_attempt: "look", webhook_id: "look" };

function itVerifies(language: Language): void {
  let program: Program;
  let url: string;
  beforeAll(async () => {
    program = await startProgram(language, await sourceOf(language));
    ({ url } = program);
  });
  afterAll(() => program.stop());

  const exampleOf = (type: string): string => JSON.stringify(bodies().find((body) => body.type === type));

  it.each(CASES)("given %s responds %i", async (_, status, secret, secondsAhead) => {
    const { status: actual } = await post(url, exampleOf("payout.paid"), secret, secondsAhead);
    expect({ status: actual, output: program.output }).toMatchObject({ status });
  });

  it.each(EVENT_TYPE_NAMES)("accepts %s only if it is configured", async (type) => {
    expect((await post(url, exampleOf(type))).status).toBe(CONFIGURED.has(type) ? 204 : 422);
  });

  it("keeps every rule that brand-records receivers prove checks", async () => {
    expect(await program.prove()).toEqual({ code: 0, results: LOOKS });
  });

  const { mistakes = [] } = language;
  if (mistakes.length > 0) {
    it.each(mistakes)("is found by receivers prove if it %s: it breaks %s", async (_, rule, right, wrong) => {
      const source = await sourceOf(language);
      expect(source.split(right)).toHaveLength(2);
      const mistaken = await startProgram(
        language,
        source.replace(right, () => wrong),
      );
      try {
        const hidden = rule === "wrong_signature" && { webhook_id: "not_checked" };
        expect(await mistaken.prove()).toEqual({ code: 1, results: { ...LOOKS, ...hidden, [rule]: "broken" } });
      } finally {
        await mistaken.stop();
      }
    });
  }

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
