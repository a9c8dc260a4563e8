import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brandRecords, brandRecordsProcess, type Ended } from "../command-line.ts";
import { startFlawedReceiver, type Receiver } from "../flawed-receiver.ts";
import { blocks, page } from "../webhook-page.ts";

/** One promise: `brand-records receivers prove` finds a receiver that breaks a rule, and passes one that keeps all. */

const secret = (): string => `whsec_${randomBytes(32).toString("base64")}`;
const SECRETS = [secret(), secret()] as const;

interface Report {
  readonly passed: boolean;
  readonly requests: number;
  readonly rules: readonly {
    readonly id: string;
    readonly expects: string;
    readonly result: string;
    readonly observed: string;
    readonly rule: string;
    readonly docs: string;
    readonly advice?: string;
    readonly requests: readonly { readonly variation: string; readonly outcome: string }[];
  }[];
}

/** The rules by which a request that is not verified must be refused. */
const REFUSALS = ["wrong_signature", "missing_headers", "malformed_headers", "stale", "future", "altered"];

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

interface Proof {
  readonly ended: Ended;
  readonly report: Report;
  readonly paths: readonly string[];
}

/** Options that a receiver needs. */
const MORE: Partial<Record<Receiver, readonly string[]>> = { "knows its brand": ["--brand", "brd_mine"] };

/** Proofs of receivers, each made once. */
const proofs = new Map<Receiver, Promise<Proof>>();

function proofOf(name: Receiver): Promise<Proof> {
  const proof = proofs.get(name) ?? makeProof(name);
  proofs.set(name, proof);
  return proof;
}

async function makeProof(name: Receiver): Promise<Proof> {
  const receiver = await startFlawedReceiver(SECRETS, name);
  try {
    const ended = await prove(
      receiver.url,
      "--json",
      "--timeout",
      name === "never ends its response" ? "0.5" : "15",
      ...(MORE[name] ?? []),
    );
    return { ended, report: JSON.parse(ended.stdout) as Report, paths: receiver.paths };
  } finally {
    await receiver.stop();
  }
}

const withResult = ({ rules }: Report, result: string): string[] => rules.filter((rule) => rule.result === result).map(({ id }) => id);
const ruleOf = ({ rules }: Report, id: string) => rules.find((rule) => rule.id === id);

/** What HTTP cannot show. */
const LOOKS = ["twice", "at_once", "later_attempt"];

it("sends 61 requests to a receiver that keeps every rule, and says what a person must look at", async () => {
  const { ended, report, paths } = await proofOf("keeps every rule");
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  expect(report).toMatchObject({ passed: true, requests: 61 });
  expect(paths).toHaveLength(61);
  expect(LOOKS.map((id) => ruleOf(report, id)?.observed)).toEqual([
    "accepted twice: check that it acted once",
    "accepted twice: check that it acted once",
    "accepted: check that it acted, although it came as attempt 2",
  ]);
});

it.each<[receiver: Receiver, looks: string[]]>([
  ["keeps every rule", [...LOOKS, "webhook_id"]],
  ["verifies webhook-signature", LOOKS],
  ["verifies either signature", [...LOOKS, "webhook_id"]],
  ["requires both signatures", LOOKS],
  ["takes no more than a minute", [...LOOKS, "webhook_id"]],
  ["refuses with 400", [...LOOKS, "webhook_id"]],
  ["knows repetitions before it verifies", [...LOOKS, "webhook_id"]],
  ["refuses while it works", [...LOOKS, "webhook_id"]],
  ["limits while it works", [...LOOKS, "webhook_id"]],
  ["remembers events by attempt", [...LOOKS, "webhook_id"]],
  ["remembers events by webhook-id", [...LOOKS, "webhook_id"]],
  ["knows its brand", [...LOOKS, "webhook_id"]],
  ["is starting", ["right_signature", ...LOOKS, "webhook_id"]],
  ["reads the body alone", [...LOOKS, "leniency", "webhook_id"]],
  ["chooses what to do by the header", [...LOOKS, "leniency", "webhook_id"]],
  ["takes every prefix", [...LOOKS, "leniency", "webhook_id"]],
  ["throws", [...LOOKS, ...REFUSALS, "event_header", "leniency", "webhook_id"]],
  ["throws at unknown types", [...LOOKS, "unknown_type", "webhook_id"]],
])("breaks nothing, and checks everything, of a receiver that %s", async (receiver, looks) => {
  const { ended, report } = await proofOf(receiver);
  expect(withResult(report, "look")).toEqual(looks);
  expect(withResult(report, "kept")).toHaveLength(report.rules.length - looks.length);
  expect(ended.code).toBe(0);
});

it.each<[receiver: Receiver, rule: string, observed: string, advice: string | undefined]>([
  ["refuses while it works", "at_once", "of two at once, accepted when sent again: check that it acted once", undefined],
  ["limits while it works", "at_once", "refused (429, ", undefined],
  ["remembers events by webhook-id", "webhook_id", "with another webhook-id: check that it remembers the id in the body", undefined],
  ["chooses what to do by the header", "leniency", "and 2 more: check that it does what the type in the body asks for", undefined],
  ["is starting", "right_signature", "accepted when sent again: check that it was starting", undefined],
  ["reads the body alone", "leniency", "without X-Service-Event: harmless", undefined],
  ["takes every prefix", "leniency", "with another prefix: harmless", undefined],
  ["throws", "stale", "refused (500, ", "Refuse with 401"],
  ["throws at unknown types", "unknown_type", "refused (500, ", "Refuse with 422"],
])("asks to look at a receiver that %s", async (receiver, rule, observed, advice) => {
  const { report } = await proofOf(receiver);
  expect(ruleOf(report, rule)?.observed).toContain(observed);
  expect(ruleOf(report, rule)?.advice?.slice(0, advice?.length)).toBe(advice);
});

/** Mistakes that people make, and all that they break. */
const MISTAKES: readonly (readonly [receiver: Receiver, rules: readonly string[], observed: string])[] = [
  ["serialises again", ["raw_body", "altered"], "refused (401, "],
  ["refuses unknown fields", ["unknown_fields"], "refused (422, "],
  ["takes 10 KiB", ["large_body"], "refused (413, "],
  ["knows one secret", ["rotation"], "signed with the next secret alone"],
  ["refuses repetitions", ["twice", "at_once"], "refused (409, "],
  ["refuses the same signature", ["at_once"], "refused (409, "],
  ["takes first attempts alone", ["twice", "later_attempt"], "second attempt"],
  ["remembers forgeries", ["twice", "at_once", "after_refusals"], "refused (409, "],
  ["compares the first half", ["wrong_signature"], "with another last digit"],
  ["compares numbers", ["wrong_signature"], "with another last digit"],
  ["compares the last characters", ["wrong_signature"], "with only the end of the signature right"],
  ["has an empty secret, too", ["wrong_signature"], "signed with an empty secret"],
  ["compares only webhook-signature", ["wrong_signature"], "with X-Service-Signature alone"],
  ["compares only X-Service-Signature", ["wrong_signature"], "with webhook-signature alone"],
  ["ignores algorithms that it does not know", ["wrong_signature"], "with another prefix"],
  ["verifies first attempts alone", ["wrong_signature"], "as attempt 2"],
  ["verifies no settled campaigns", ["wrong_signature"], "of type campaign.settled"],
  ["verifies no approved submissions", ["wrong_signature"], "of type submission.approved"],
  ["verifies no rejected submissions", ["wrong_signature"], "of type submission.rejected"],
  ["verifies no forms", ["wrong_signature"], "as a form"],
  ["verifies no forms of parts", ["wrong_signature"], "as a form of parts"],
  ["verifies no text", ["wrong_signature"], "as plain text"],
  ["verifies only what is signed", ["missing_headers"], "without signature"],
  ["verifies only what has a time", ["missing_headers"], "without timestamp"],
  ["verifies only what has an id", ["missing_headers"], "without webhook-id, with webhook-signature alone"],
  ["verifies only what has headers", ["missing_headers"], "without any of the service's headers"],
  ["accepts if none of the signatures is wrong", ["malformed_headers"], "with an empty signature"],
  ["compares what is there", ["malformed_headers"], "with half a signature"],
  ["compares the end", ["malformed_headers"], "with the end of a signature"],
  ["accepts what it cannot decode", ["malformed_headers"], "with a signature of other characters"],
  ["compares with a timestamp that is no number", ["malformed_headers"], "with a signed timestamp that is no number"],
  ["takes ten minutes", ["stale"], "signed 330 s ago"],
  ["compares the time of the day", ["stale"], "signed a day ago"],
  ["takes retries at any time", ["stale"], "signed a day ago, as attempt 2"],
  ["compares the time of webhook-signature alone", ["stale"], "with X-Service-Signature alone"],
  ["compares the time of X-Service-Signature alone", ["stale"], "with webhook-signature alone"],
  ["compares X-Service-Timestamp, and verifies webhook-signature", ["stale"], "with a new X-Service-Timestamp"],
  ["compares webhook-timestamp, and verifies X-Service-Signature", ["stale"], "with a new webhook-timestamp"],
  ["takes old requests", ["stale"], "signed a day ago"],
  ["takes requests of the future", ["future"], "signed 330 s ahead"],
  ["takes an hour ahead", ["future"], "signed 330 s ahead"],
  ["takes milliseconds for seconds", ["stale", "future"], "signed a day ago"],
  ["compares the time of the event", ["stale", "future"], "signed a day ago"],
  ["tries other timestamps", ["altered"], "with another timestamp"],
  ["verifies what it has parsed, too", ["altered"], "with a blank between fields"],
  ["converts line ends", ["altered"], "with other line ends"],
  ["trims the body", ["altered"], "with a line end after the body"],
  ["takes every type", ["unknown_type"], "of type payout.unheard_of"],
  ["takes types by family", ["unknown_type"], "of type payout.unheard_of"],
  ["trusts the header", ["event_header"], "with payout.paid in the header of payout.unheard_of"],
  ["compares nothing", ["wrong_signature", "stale", "altered"], "with another last digit"],
  ["takes what it has seen for processed", REFUSALS.filter((id) => id !== "future"), "with only the end of the signature right"],
  ["does not wait for the verification", REFUSALS, "signed with an empty secret"],
  ["trusts the user agent", REFUSALS, "signed with an empty secret"],
  ["lets tests through", REFUSALS, "signed with an empty secret"],
  ["says no with 200", [...REFUSALS, "unknown_type"], "accepted (200, "],
  ["refuses with 410", [...REFUSALS, "event_header", "leniency"], "refused (410, "],
  ["drops the connection", [...REFUSALS, "event_header", "leniency"], "the connection ended before the response did (ECONNRESET)"],
];

it.each(MISTAKES)("finds a receiver that %s: it breaks %j", async (receiver, rules, observed) => {
  const { ended, report } = await proofOf(receiver);
  expect(ended.code).toBe(1);
  expect(report.passed).toBe(false);
  expect(withResult(report, "broken")).toEqual(rules);
  expect(ruleOf(report, rules[0] ?? "")).toMatchObject({
    observed: expect.stringContaining(observed),
    advice: expect.stringMatching(/[.?]$/),
  });
});

it("sends nothing that must be refused but what alone shows a mistake", async () => {
  const reports = await Promise.all(MISTAKES.map(async ([receiver]) => (await proofOf(receiver)).report));
  const forgeries = ({ rules }: Report, outcome?: string): string[] =>
    rules
      .filter(({ expects }) => expects === "refused")
      .flatMap(({ id, requests }) => requests.map((request) => ({ ...request, name: `${id}: ${request.variation}` })))
      .filter((request) => outcome === undefined || request.outcome === outcome)
      .map(({ name }) => name);
  const shownAlone = reports
    .filter((report) => withResult(report, "broken").length === 1)
    .map((report) => forgeries(report, "accepted"))
    .filter((accepted) => accepted.length === 1);
  const { report } = await proofOf("keeps every rule");
  expect([...new Set(shownAlone.flat())].toSorted()).toEqual(forgeries(report).toSorted());
});

/** Receivers of which a refusal says nothing, and the last rule that is known nevertheless. */
it.each<[receiver: Receiver, known: string | undefined, observed: string, advice: string]>([
  ["accepts everything, and is limited", "later_attempt", "refused (429, ", "A limiter responds."],
  ["accepts everything, and then nothing", "later_attempt", "the same event, correctly signed", "It refuses what it accepted before."],
  ["is limited from the first request on", undefined, "refused (429, ", "A limiter responds."],
  ["is limited in the middle", "wrong_signature", "refused (429, ", "A limiter responds."],
  ["is behind a firewall", "wrong_signature", "refused (403, ", "It refuses what it accepted before."],
  ["is behind a limiter that names the time", "wrong_signature", ", Retry-After: 30) the same event", "A limiter responds."],
  ["is away in the middle", "wrong_signature", "refused (502, ", "A proxy responds"],
])("says that it checked no more of a receiver that %s", async (receiver, known, observed, advice) => {
  const { ended, report } = await proofOf(receiver);
  expect(ended.code).toBe(3);
  expect(report.passed).toBe(false);
  const next = report.rules.findIndex(({ id }) => id === known) + 1;
  expect(report.rules[next]).toMatchObject({ observed: expect.stringContaining(observed), advice: expect.stringContaining(advice) });
  const isJudged = ({ id }: { id: string }): boolean => id === "after_refusals" || id === "in_time";
  expect(report.rules.filter((rule) => !isJudged(rule)).map(({ result }) => result === "not_checked")).toEqual(
    report.rules.filter((rule) => !isJudged(rule)).map((_, at) => at >= next),
  );
});

it("goes on after one request that a proxy responds to, and says what it did not check", async () => {
  const { ended, report } = await proofOf("is replaced in the middle");
  expect(ended.code).toBe(3);
  expect(withResult(report, "not_checked")).toEqual(["malformed_headers"]);
  expect(withResult(report, "kept")).toContain("unknown_type");
});

it("takes no refusal for a check that a receiver also responds with to what it accepts", async () => {
  const { ended, report } = await proofOf("accepts everything, every other time");
  expect(ended.code).toBe(1);
  expect(withResult(report, "kept")).toEqual(["right_signature", "after_refusals", "in_time"]);
});

it.each<[receiver: Receiver, observed: string, advice: string]>([
  ["decodes the secret", "refused (401, ", "Check the secret"],
  ["redirects", "refused (301, ", "redirects are not followed"],
  ["switches protocols", "refused (101, ", "another protocol"],
  ["never ends its response", "slow (no whole response within 0.", "end the response"],
])("checks nothing more of a receiver that %s: it accepts no event", async (receiver, observed, advice) => {
  const { ended, report, paths } = await proofOf(receiver);
  expect(ended.code).toBe(1);
  expect(ruleOf(report, "right_signature")).toMatchObject({
    observed: expect.stringContaining(observed),
    advice: expect.stringContaining(advice),
  });
  expect(report.rules.slice(1, -1).every(({ result }) => result === "not_checked")).toBe(true);
  expect(paths).toEqual(["/hooks"]);
});

it("sends events of the brand that is named, and advises to name it", async () => {
  const receiver = await startFlawedReceiver(SECRETS, "knows its brand");
  const send = (...more: string[]): Promise<Ended> =>
    brandRecords(["events", "send", "payout.paid", "--to", receiver.url, "--secret-file", join(folder, "secret"), ...more]);
  expect(await send("--brand", "brd_mine")).toMatchObject({ code: 0 });
  expect(await send()).toMatchObject({ code: 1, stdout: expect.stringContaining("If it checks the brand: --brand") });
  await receiver.stop();
});

it("ends with words, in a process of its own, if a receiver switches protocols", async () => {
  const receiver = await startFlawedReceiver(SECRETS, "switches protocols");
  const to = ["--to", receiver.url, "--secret-file", join(folder, "secret")];
  const ended = await Promise.all([
    brandRecordsProcess(["events", "send", "payout.paid", ...to]),
    brandRecordsProcess(["receivers", "prove", ...to]),
  ]);
  await receiver.stop();
  for (const { code, stdout } of ended) {
    expect(code).toBe(1);
    expect(stdout).toMatch(/refused \(101, [^]*this one speaks another protocol/);
  }
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
    expect(rules.filter(({ result }) => result !== "kept")).toMatchObject(LOOKS.map((id) => ({ id, result: "look" })));
  } finally {
    const ended = once(child, "close");
    child.kill("SIGKILL");
    await ended;
  }
});

it("states rules in the words of docs/webhooks.md", async () => {
  const { report } = await proofOf("keeps every rule");
  const text = page
    .replaceAll("**", "")
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/\s+/g, " ");
  const anchors = [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => heading.toLowerCase().replaceAll(" ", "-"));
  for (const { rule, docs } of report.rules) {
    expect(text).toContain(rule);
    expect(anchors).toContain(docs.replace(/^\/docs\/webhooks#/, ""));
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
    expect(stdout).toMatch(/\n {2}Do: {3}Compare the timestamp that/);
    expect(stdout).toMatch(/\n1 rule is broken: 15 kept, 4 to look at\./);
    expect(stdout).not.toContain("\u001b");
    expect(stderr).toContain(`Sending to ${receiver.url} and nowhere else. Redirects are not followed.`);
  });

  it("prints no secret", async () => {
    const { ended } = await proofOf("knows one secret");
    for (const one of SECRETS) expect(ended.stdout + ended.stderr).not.toContain(one);
  });
});
