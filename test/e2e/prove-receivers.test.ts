import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brandRecords, type Ended } from "../command-line.ts";
import { startFlawedReceiver, type Flaw } from "../flawed-receiver.ts";
import { blocks, page } from "../webhook-page.ts";

/** One promise: `brand-records receivers prove` finds a receiver that breaks a rule, and passes one that keeps all. */

const secret = (): string => `whsec_${randomBytes(32).toString("base64")}`;
const SECRETS = [secret(), secret()] as const;

interface Report {
  readonly passed: boolean;
  readonly requests: number;
  readonly rules: readonly {
    readonly id: string;
    readonly result: string;
    readonly observed: string;
    readonly rule: string;
    readonly docs: string;
    readonly advice?: string;
  }[];
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "prove-"));
  await writeFile(join(folder, "secret"), `${SECRETS[0]}\n`);
  await writeFile(join(folder, "next"), `${SECRETS[1]}\n`);
});
afterAll(() => rm(folder, { recursive: true }));

const prove = (url: string, ...more: string[]): Promise<Ended> =>
  brandRecords([
    "receivers",
    "prove",
    "--to",
    url,
    "--secret-file",
    join(folder, "secret"),
    "--next-secret-file",
    join(folder, "next"),
    ...more,
  ]);

async function proveFlawed(flaw: Flaw | undefined, ...more: string[]): Promise<{ ended: Ended; report: Report; paths: readonly string[] }> {
  const receiver = await startFlawedReceiver(SECRETS, flaw);
  try {
    const ended = await prove(receiver.url, "--json", ...more);
    return { ended, report: JSON.parse(ended.stdout) as Report, paths: receiver.paths };
  } finally {
    await receiver.stop();
  }
}

const broken = ({ rules }: Report): string[] => rules.filter(({ result }) => result === "broken").map(({ id }) => id);
const ruleOf = ({ rules }: Report, id: string) => rules.find((rule) => rule.id === id);

it("passes a receiver that keeps every rule, and says what a person must look at", async () => {
  const { ended, report, paths } = await proveFlawed(undefined);
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  expect(report).toMatchObject({ passed: true, requests: 28 });
  expect(paths).toHaveLength(28);
  expect(report.rules.filter(({ result }) => result !== "kept").map(({ id, result, observed }) => [id, result, observed])).toEqual([
    ["twice", "look", "accepted twice: check that it acted once"],
    ["at_once", "look", "accepted twice: check that it acted once"],
  ]);
});

/** Broken by a receiver that refuses nothing, or in a way that is no refusal. */
const REFUSALS = ["wrong_signature", "missing_headers", "malformed_headers", "stale", "future", "altered", "event_header"];

it.each<[flaw: Flaw, rules: string[], observed: string]>([
  ["serialises again", ["raw_body"], "refused (401, "],
  ["refuses unknown fields", ["unknown_fields"], "refused (422, "],
  ["takes 10 KiB", ["large_body"], "refused (413, "],
  ["knows one secret", ["rotation"], "signed with the next secret alone"],
  ["refuses repetitions", ["twice", "at_once"], "second attempt"],
  ["refuses while it works", ["at_once"], "refused (503, "],
  ["compares nothing", ["wrong_signature", "altered"], "signed with an empty secret"],
  ["verifies only what is signed", ["missing_headers"], "without signature"],
  ["compares what is there", ["malformed_headers"], "with half a signature"],
  ["compares with a timestamp that is no number", ["malformed_headers"], "with a signed timestamp that is no number"],
  ["takes old requests", ["stale"], "signed a day ago"],
  ["takes requests of the future", ["future"], "signed 330 s ahead"],
  ["tries other timestamps", ["altered"], "with another timestamp"],
  ["trusts the header", ["event_header"], "with payout.paid in the header of submission.approved"],
  ["reads the body alone", ["event_header"], "with submission.approved in the header of payout.paid"],
  ["takes every type", ["unknown_type"], "of type record.unheard_of"],
  ["lets tests through", [...REFUSALS, "unknown_type"], "signed with another secret"],
  ["refuses with 410", REFUSALS, "refused (410, "],
  ["drops the connection", REFUSALS, "the connection ended before the response did (ECONNRESET)"],
])("finds a receiver that %s: it breaks %j", async (flaw, rules, observed) => {
  const { ended, report } = await proveFlawed(flaw);
  expect(ended.code).toBe(1);
  expect(report.passed).toBe(false);
  expect(broken(report)).toEqual(rules);
  expect(ruleOf(report, rules[0] ?? "")).toMatchObject({
    observed: expect.stringContaining(observed),
    advice: expect.stringMatching(/[.?]$/),
  });
});

it.each<[flaw: Flaw, observed: string, advice: string]>([
  ["decodes the secret", "refused (401, ", "Check the secret"],
  ["redirects", "refused (301, ", "redirects are not followed"],
])("checks nothing more of a receiver that %s: it accepts no event", async (flaw, observed, advice) => {
  const { ended, report, paths } = await proveFlawed(flaw);
  expect(ended.code).toBe(1);
  expect(ruleOf(report, "right_signature")).toMatchObject({
    observed: expect.stringContaining(observed),
    advice: expect.stringContaining(advice),
  });
  expect(report.rules.slice(1, -1).every(({ result }) => result === "not_checked")).toBe(true);
  expect(paths).toEqual(["/hooks"]);
});

it("finds a receiver that never ends its response", async () => {
  const { ended, report } = await proveFlawed("never ends its response", "--timeout", "0.5");
  expect(ended.code).toBe(1);
  expect(broken(report)).toEqual(["right_signature", "in_time"]);
  expect(ruleOf(report, "right_signature")?.observed).toMatch(/^slow \(no whole response within 0\.\d s\)/);
});

it("asks to look at a receiver whose code throws", async () => {
  const { ended, report } = await proveFlawed("throws");
  expect(ended.code).toBe(0);
  expect(ruleOf(report, "stale")).toMatchObject({ result: "look", observed: expect.stringContaining("refused (500, ") });
});

it("reports a receiver that is not there, and sends nothing more", async () => {
  const receiver = await startFlawedReceiver(SECRETS);
  await receiver.stop();
  const { code, stdout } = await prove(receiver.url, "--json");
  expect(code).toBe(1);
  const report = JSON.parse(stdout) as Report;
  expect(report.requests).toBe(1);
  expect(ruleOf(report, "right_signature")).toMatchObject({
    observed: expect.stringContaining("no connection (ECONNREFUSED)"),
    advice: expect.stringContaining("Start the receiver"),
  });
  expect(report.rules.slice(1).every(({ result }) => result === "not_checked")).toBe(true);
});

/** What a receiver with a library does itself: steps 5 to 7 of docs/webhooks.md. `verifiedEvent` throws if a request is not verified. */
const AROUND_A_LIBRARY = `
  import { createServer } from "node:http";
  import { buffer } from "node:stream/consumers";
  const types = new Set(["payout.paid", "campaign.settled"]);
  const statusFor = (headers, body) => {
    try {
      const event = verifiedEvent(headers, body);
      if (event.type !== headers["x-service-event"]) return 401;
      return types.has(event.type) ? 204 : 422;
    } catch {
      return 401;
    }
  };
  const listener = async (request, response) => response.writeHead(statusFor(request.headers, (await buffer(request)).toString())).end();
`;

const LISTEN = `
  const server = createServer(listener).listen(0, "127.0.0.1", () => console.log(server.address().port));
`;

/** Receivers as programs, by the library that verifies. */
const LIBRARIES: Readonly<Record<string, string>> = {
  standardwebhooks: `${blocks("js")[1]} ${AROUND_A_LIBRARY} ${LISTEN}`,
  svix: `
    import { Webhook } from "svix";
    const webhook = new Webhook(process.env.WEBHOOK_SECRET);
    const verifiedEvent = (headers, body) => {
      webhook.verify(body, headers);
      return JSON.parse(body);
    };
    ${AROUND_A_LIBRARY} ${LISTEN}`,
  "@brand-records/client/express": `
    import { createServer } from "node:http";
    import express from "express";
    import { receiveEvents } from "@brand-records/client/express";
    const listener = express();
    const options = { secrets: process.env.WEBHOOK_SECRET, types: ["payout.paid", "campaign.settled"] };
    listener.post("/", receiveEvents(options, async () => {}));
    ${LISTEN}`,
};

it.each(Object.keys(LIBRARIES))("passes a receiver with %s", async (library) => {
  const env = { PATH: process.env["PATH"], WEBHOOK_SECRET: SECRETS[0] };
  // In the workspace that has the libraries.
  const child = spawn(process.execPath, ["--input-type=module", "--eval", LIBRARIES[library] ?? ""], { env, cwd: "test" });
  child.stderr.pipe(process.stderr);
  try {
    const [port] = (await once(child.stdout, "data")) as [Buffer];
    const url = `http://127.0.0.1:${port.toString().trim()}/`;
    const { stdout } = await brandRecords(["receivers", "prove", "--to", url, "--secret-file", join(folder, "secret"), "--json"]);
    const { rules } = JSON.parse(stdout) as Report;
    expect(rules.filter(({ result }) => result !== "kept")).toMatchObject([{ id: "twice" }, { id: "at_once" }]);
  } finally {
    const ended = once(child, "close");
    child.kill("SIGKILL");
    await ended;
  }
});

it("states rules in the words of docs/webhooks.md", async () => {
  const { report } = await proveFlawed(undefined);
  const text = page
    .replaceAll("**", "")
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/\s+/g, " ");
  const anchors = [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => heading.toLowerCase().replaceAll(" ", "-"));
  for (const { rule, docs } of report.rules) {
    expect(text).toContain(rule);
    expect(anchors).toContain(docs.replace(/^https:\/\/.*\/docs\/webhooks#/, ""));
  }
});

describe("for people", () => {
  it("shows a table, with the rule and what to do below what is broken", async () => {
    const receiver = await startFlawedReceiver(SECRETS, "takes old requests");
    const { stdout, stderr } = await prove(receiver.url);
    await receiver.stop();
    const lines = stdout.split("\n");
    expect(lines[0]).toBe("RESULT  CHECK                                   THE RECEIVER");
    expect(lines[1]).toBe("ok      right signature                         accepted (204)");
    const at = lines.findIndex((line) => line.startsWith("BROKEN"));
    expect(lines[at]).toMatch(/^BROKEN {2}stale timestamp +accepted \(204, \d+ ms\) signed 330 s ago; /);
    expect(stdout).toContain(
      "\n  Rule: Refuse missing or malformed headers, and a timestamp more than five minutes in the past or the future.\n",
    );
    expect(stdout).toMatch(/\n {2}Do: {3}Compare the timestamp with the clock/);
    expect(stdout).toMatch(/\n1 rule is broken: 13 kept, 2 to look at\./);
    expect(stdout).not.toContain("\u001b");
    expect(stderr).toContain(`Sending to ${receiver.url} and nowhere else. Redirects are not followed.`);
  });

  it("prints no secret", async () => {
    const { ended } = await proveFlawed("knows one secret");
    for (const one of SECRETS) expect(ended.stdout + ended.stderr).not.toContain(one);
  });
});
