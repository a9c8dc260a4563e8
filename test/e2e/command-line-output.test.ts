import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { promisify } from "node:util";
import { brandRecords, brandRecordsProcess } from "../command-line.ts";

/** One promise: whatever answers, and wherever the output goes, the command line is read easily and says what to do. */

const BRAND = "brd_01k1sem520ecxthczqg3ryfxme";

let server: Server;
let respond: RequestListener;
let folder: string;
beforeAll(async () => {
  server = createServer((request, response) => respond(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  folder = await mkdtemp(join(tmpdir(), "command-line-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  server.close();
});

const env = () => ({
  BRAND_RECORDS_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  BRAND_RECORDS_KEY: `brk_live_${"a".repeat(36)}`,
});

describe("responses that are not the service's", () => {
  it.each<[string, number, Record<string, string>, string, RegExp]>([
    ["a proxy's page", 200, {}, "<html>log in</html>", /^error: HTTP 200: no X-Brand-Id.*\nIs BRAND_RECORDS_URL the service's address/],
    ["nothing", 204, {}, "", /^error: HTTP 204: no X-Brand-Id/],
    ["a redirect", 302, { Location: "https://login.example/" }, "", /it redirects to https:\/\/login\.example\/: is url right\?\n/],
    ["details that are none", 400, {}, '{"error":{"code":"x","message":"m","details":[null,{"field":1}]}}', /^error: m\n$/],
    [
      "control characters",
      400,
      {},
      '{"error":{"code":"\\u001b[31m","message":"\\u001b]0;m\\u0007","request_id":"\\u001b"}}',
      /^error: \P{Cc}*\n$/u,
    ],
  ])("%s ends with an error that names the next step, and no escape sequence", async (_, status, headers, body, text) => {
    respond = (_request, response) => response.writeHead(status, headers).end(body);
    expect(await brandRecords(["list", "links"], { env: env() })).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(text),
    });
  });

  it("standard output that is full ends an export with the reason", async () => {
    respond = (_request, response) =>
      response.writeHead(200, { "X-Brand-Id": BRAND }).end('{"resource":"links","count":1,"data":[{"id":"lnk_1"}]}');
    const shell = `exec ${process.execPath} clients/cli/bin/brand-records.js export links --format ndjson --out - > /dev/full`;
    const ended = await promisify(execFile)("sh", ["-c", shell], { env: env() }).catch((error: unknown) => error);
    expect(ended).toMatchObject({ code: 1, stderr: "error: standard output cannot be written: the disk is full.\n" });
  });
});

describe("export", () => {
  const exported = (...args: string[]) => {
    respond = (_request, response) =>
      response.writeHead(200, { "X-Brand-Id": BRAND }).end('{"resource":"links","count":1,"data":[{"id":"lnk_1","url":"=1+1"}]}');
    return brandRecords(["export", "links", ...args], { env: env() });
  };

  it.each<[string, string[], string]>([
    ["an apostrophe before a formula", [], "id,url\nlnk_1,'=1+1\n"],
    ["--raw as the service sends it", ["--raw"], "id,url\nlnk_1,=1+1\n"],
    ["--bom a mark for Excel", ["--bom"], "\ufeffid,url\nlnk_1,'=1+1\n"],
  ])("writes CSV with %s", async (_, args, text) => {
    const out = join(folder, "links.csv");
    expect(await exported("--format", "csv", "--out", out, "--replace", ...args)).toMatchObject({ code: 0 });
    expect(await readFile(out, "utf8")).toBe(text);
  });

  it("refuses a file that exists, a folder that does not, no name and choices of CSV for another format, with exit code 2", async () => {
    const file = join(folder, "mine");
    await writeFile(file, "mine");
    const refusals: [string[], RegExp][] = [
      [["--format", "csv", "--out", file], /exists\.\n--replace replaces it/],
      [["--format", "csv", "--out", join(folder, "missing", "links")], /its folder does not exist/],
      [["--format", "csv", "--out", folder], /is no file/],
      [["--format", "csv", "--out", ""], /--out must be the name of a file/],
      [["--format", "ndjson", "--out", "-", "--raw"], /--bom and --raw are for --format csv/],
    ];
    for (const [args, text] of refusals)
      expect(await exported(...args)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(text) });
    expect(await readFile(file, "utf8")).toBe("mine");
  });
});

describe("plans prepare", () => {
  /** Each is a status, headers and the body of a response. */
  type Given = readonly [status: number, headers: Record<string, string>, body: string];
  const refusal = (code: string): string => JSON.stringify({ error: { code, message: "m" } });
  const ids: unknown[] = [];
  const prepare = (responses: readonly Given[], input: object = {}, args: readonly string[] = []) => {
    const left = [...responses];
    ids.length = 0;
    respond = (request, response) => {
      void json(request).then((plan) => {
        ids.push((plan as { request_id: unknown }).request_id);
        const [status, headers, body] = left.shift() ?? [500, {}, ""];
        response.writeHead(status, headers).end(body);
      });
    };
    return brandRecords(["plans", "prepare", "--file", "-", ...args], { env: env(), input: JSON.stringify(input) });
  };
  const away: Given = [503, {}, refusal("unavailable")];

  it.each<[string, readonly Given[], RegExp]>([
    ["a revoked key", [away, [401, {}, refusal("invalid_key")]], /^Set BRAND_RECORDS_KEY to a key that is whole/m],
    ["a refusal", [away, [403, {}, refusal("permission_required")]], /^Use a key with this permission/m],
    ["the limit", [away, [429, { "Retry-After": "900" }, refusal("rate_limited")]], /Again in 900 s\.$/m],
    ["a success without JSON", [[201, {}, "<html>"]], /^Is BRAND_RECORDS_URL the service's address/m],
  ])("gives the request_id of a plan that an attempt may have made before %s", async (_, responses, text) => {
    const { code, stderr } = await prepare(responses);
    expect(code).toBe(1);
    expect(stderr).toMatch(text);
    expect(stderr).toContain(`\nThe plan may exist. The same command with --request-id ${String(ids[0])} makes no second one.\n`);
    expect(ids).toHaveLength(responses.length);
  });

  it("gives none if the only attempt was refused", async () => {
    const { code, stderr } = await prepare([[403, {}, refusal("permission_required")]]);
    expect(code).toBe(1);
    expect(stderr).not.toContain("The plan may exist");
  });

  it("takes null for a request_id that the file does not have", async () => {
    const id = "0b54c1ee-3d2f-4b8e-9f4e-6a1c1f0d9a11";
    await prepare([[403, {}, refusal("permission_required")]], { request_id: null }, ["--request-id", id]);
    expect(ids).toEqual([id]);
    await prepare([[500, { "Retry-After": "900" }, ""]], { request_id: null });
    expect(ids).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  });
});

describe("on a terminal", () => {
  it("export shows a remark on a line of its own, with the progress below it", async () => {
    let requests = 0;
    respond = (_request, response) => {
      requests += 1;
      if (requests === 1) response.writeHead(429, { "Retry-After": "0" }).end('{"error":{"code":"rate_limited"}}');
      else response.writeHead(200, { "X-Brand-Id": BRAND }).end('{"resource":"links","count":0,"data":[]}');
    };
    const out = join(folder, "links.ndjson");
    const args = ["export", "links", "--format", "ndjson", "--out", out];
    const { code, stdout, stderr } = await brandRecords(args, { env: { ...env(), NO_COLOR: "1" }, columns: 80 });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `Complete: 0 records of links in ${out}\n` });
    const [clearLine, bar] = ["\u001b[2K", "links  0 records"];
    expect(stderr).toContain(`${clearLine}The brand's limit is used up: again in 1 s.\n`);
    expect(stderr.lastIndexOf(bar)).toBeGreaterThan(stderr.indexOf("again in 1 s."));
    expect(stderr.endsWith(clearLine)).toBe(true);
  });
});

describe("the program", () => {
  it("explains every command and option, within 120 columns", async () => {
    const commands = [
      [],
      ["whoami"],
      ["list"],
      ["export"],
      ["sync"],
      ["plans"],
      ["plans", "prepare"],
      ["events"],
      ["events", "send"],
      ["events", "verify"],
      ["listen"],
      ["receivers"],
      ["receivers", "prove"],
    ];
    for (const command of commands) {
      const { code, stdout, stderr } = await brandRecords([...command, "--help"]);
      expect({ command, code, stderr }).toEqual({ command, code: 0, stderr: "" });
      expect(stdout).toMatch(new RegExp(`^Usage: brand-records ${command.join(" ")}`));
      for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(120);
    }
  });

  it("exits with 2 for wrong usage, with the help to read", async () => {
    expect(await brandRecords(["events", "sent"])).toMatchObject({ code: 2, stderr: expect.stringContaining("Did you mean send?") });
    const ended = await brandRecords(["--json", "export", "links"]);
    expect(ended.code).toBe(2);
    expect(JSON.parse(ended.stderr)).toMatchObject({ error: { code: "usage", hint: "See brand-records export --help" } });
    expect((await brandRecordsProcess(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
