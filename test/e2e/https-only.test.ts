import { startProcess, type ServiceProcess } from "@brand-records/testkit";
import { untilClosed } from "../raw-http.ts";
import { scriptOf } from "../program-script.ts";

/** One promise: where people reach the service by https, every response of gateway and console tells browsers to use nothing else, once. */

const processes: ServiceProcess[] = [];
afterAll(() => Promise.all(processes.map((process) => process.kill())));

/** No service runs behind them: they start without, and every response has the headers. */
const SERVICES = Object.fromEntries(["ACCOUNTS", "PLANS", "RECORDS", "WEBHOOK"].map((name) => [`${name}_ADDRESS`, "127.0.0.1:1"]));

async function start(name: "gateway" | "console", env: Record<string, string>): Promise<string> {
  const started = await startProcess({
    name,
    script: scriptOf(name),
    env: { HOST: "127.0.0.1", PORT: "0", STOP_GRACE_MS: "0", ...SERVICES, ...env },
  });
  processes.push(started);
  return `http://127.0.0.1:${(started.ready as { port: number }).port}`;
}

async function startBoth(publicUrl: string): Promise<Record<"gateway" | "console", string>> {
  const consoleUrl = await start("console", { PUBLIC_URL: publicUrl });
  const gateway = await start("gateway", { PUBLIC_URL: publicUrl, CONSOLE_ADDRESS: new URL(consoleUrl).host });
  return { gateway, console: consoleUrl };
}

const HOST = "records.example";
const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`;
const post = (path: string, headers = ""): string =>
  `POST ${path} HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\nContent-Type: application/json\r\n${headers}Content-Length: 2\r\n\r\n{}`;
const operation = post("/console/api/session.me", "Sec-Fetch-Site: same-origin\r\n");

const OF_CONSOLE: Record<string, [request: string, status: number]> = {
  "a page": [get("/developers"), 200],
  "a redirect": [get("/"), 302],
  "a file that does not exist": [get("/console/assets/none.js"), 404],
  "an operation without a session": [operation, 401],
  "a method that is not supported": [post("/sign-in"), 405],
};
const OF_GATEWAY: Record<string, [request: string, status: number]> = {
  "the description": [get("/openapi/service.yaml"), 200],
  "the reference": [get("/docs"), 200],
  "a path at which nothing exists": [get("/none"), 404],
  "a request without a key": [get("/api/v1/campaigns"), 401],
  "an assistant without a key": [post("/api/mcp"), 401],
  "an OAuth path": [get("/.well-known/oauth-protected-resource"), 404],
  "a URL that is too long": [get(`/${"x".repeat(9_000)}`), 414],
  CONNECT: [`CONNECT ${HOST}:443 HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`, 405],
};
const OF_BOTH: Record<string, [request: string, status: number]> = {
  "no HTTP": ["nonsense\r\n\r\n", 400],
  "no Host": ["GET /developers HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
  "headers that are too large": [`GET / HTTP/1.1\r\nHost: ${HOST}\r\nX: ${"x".repeat(40_000)}\r\n\r\n`, 431],
  "an unknown expectation": [get("/developers").replace("Host", "Expect: the-unexpected\r\nHost"), 200],
};
const CASES = [
  ...Object.entries({ ...OF_CONSOLE, ...OF_GATEWAY, ...OF_BOTH }).map(([what, of]) => ["gateway", what, ...of] as const),
  ...Object.entries({ ...OF_CONSOLE, ...OF_BOTH }).map(([what, of]) => ["console", what, ...of] as const),
];

/** The status line, and every line of the headers that speaks of https. */
async function reported(url: string, request: string): Promise<{ status: number; lines: string[] }> {
  const [head = ""] = (await untilClosed(url, request)).split("\r\n\r\n", 1);
  const [statusLine = "", ...lines] = head.split("\r\n");
  return { status: Number(statusLine.split(" ")[1]), lines: lines.filter((line) => /^strict-transport-security:/i.test(line)) };
}

describe("behind https", () => {
  let urls: Record<"gateway" | "console", string>;
  beforeAll(async () => {
    urls = await startBoth(`https://${HOST}`);
  });

  it.each(CASES)("the %s says it with its response to %s", async (of, _, request, status) => {
    expect(await reported(urls[of], request)).toEqual({ status, lines: [expect.stringMatching(/^[^:]+: max-age=31536000$/)] });
  });
});

it("on http nothing is reported", async () => {
  const urls = await startBoth("http://localhost:8080");
  for (const [of, what, request] of CASES) expect([of, what, (await reported(urls[of], request)).lines]).toEqual([of, what, []]);
});

describe("bytes that are no request, in the middle of a call of the console", () => {
  it.each([
    [
      "end it with 400 if it has no response yet",
      `${operation.replace("Content-Length: 2", "Transfer-Encoding: chunked").slice(0, -2)}nonsense\r\n`,
      400,
    ],
    ["end the connection behind its response", `${get("/developers").replace("Connection: close\r\n", "")}nonsense\r\n\r\n`, 200],
  ])("%s, and the process goes on", async (_, bytes, status) => {
    const consoleUrl = await start("console", { PUBLIC_URL: `https://${HOST}` });
    expect((await reported(consoleUrl, bytes)).status).toBe(status);
    expect((await reported(consoleUrl, get("/developers"))).status).toBe(200);
  });
});
