import { EVENT_TYPE_NAMES } from "@brand-records/resources";
import { receiverOf, SECRET } from "../../test/fake-webhook.ts";
import { CREATE, serveReceivers } from "../../test/serve-receivers.ts";
import { brandctl } from "../../test/test-terminal.ts";

const { env, fake, run } = serveReceivers();

describe("create", () => {
  it("writes the secret alone to standard output, and instructions to standard error", async () => {
    const { code, stdout, stderr } = await run(`${CREATE} payout.paid,campaign.settled`);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${SECRET}\n` });
    expect(stderr).toContain("The signing secret is shown once.");
    expect(stderr).toContain("X-Service-Signature");
    expect(stderr).not.toContain(SECRET);
    expect(stderr).not.toContain("tok3n");
    expect(fake.receivers).toEqual([
      receiverOf({ id: "rcv_made0", url: "https://hooks.ulap.example/in?t=tok3n", events: ["payout.paid", "campaign.settled"] }),
    ]);
  });

  it("prints id, secret and the whole receiver with --json, and nothing else", async () => {
    const outcome = await run(`${CREATE} payout.paid --json`);
    expect(outcome.json()).toEqual({ id: "rcv_made0", secret: SECRET, receiver: fake.receivers[0] });
    expect(outcome.stderr).toBe("");
  });

  it("accepts spaces and empty items between event types", async () => {
    const args = [...CREATE.split(" "), " payout.paid, campaign.settled,, "];
    expect((await brandctl(args, { env: env() })).code).toBe(0);
    expect(fake.receivers[0]?.events).toEqual(["payout.paid", "campaign.settled"]);
  });

  it.each([
    ["payout.foo", '--events: "payout.foo" is not an event type'],
    ["payout.paid,payout.foo,ping", '--events: "payout.foo", "ping" are not event types'],
    [",", "--events names no event type"],
  ])("refuses --events %s, saying why, and lists the event types", async (types, message) => {
    for (const line of [`${CREATE} ${types}`, `receivers update rcv_1 --brand brd_1 --events ${types}`]) {
      expect(await run(line)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(message) });
      expect((await run(line)).stderr).toContain(EVENT_TYPE_NAMES.join(", "));
    }
    expect(fake.receivers).toEqual([]);
  });

  it.each(["--url", "--label", "--events"])("needs %s", async (option) => {
    const words = `${CREATE} payout.paid`.split(" ");
    words.splice(words.indexOf(option), 2);
    expect(await run(words.join(" "))).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(`'${option} `) });
    expect(fake.receivers).toEqual([]);
  });

  it.each([
    ["http://hooks.ulap.example/", "not_https", "url must begin with https://"],
    ["https://localhost/", "private_address", "url must name a public host"],
    ["https://hooks.slack.com/services/x", "chat_webhook", "url is a team chat's incoming webhook"],
  ])("prints what the service finds wrong with %s once: %s", async (url, code, message) => {
    const line = `receivers create --brand brd_1 --url ${url} --label L --events payout.paid`;
    expect(JSON.parse((await run(`${line} --json`)).stderr)).toEqual({ error: { code, message, field: "url" } });
    expect(await run(line)).toMatchObject({ code: 1, stdout: "", stderr: `error: ${message}\n` });
  });

  it("gives a hint about a URL that the brand has already", async () => {
    fake.receivers.push(receiverOf());
    const line = "receivers create --brand brd_1 --url https://hooks.ulap.example/events?token=tok3n --label L --events payout.paid";
    const hint = expect.stringContaining("brandctl receivers list --brand brd_1 --json");
    expect(JSON.parse((await run(`${line} --json`)).stderr)).toMatchObject({ error: { code: "duplicate_url", field: "url", hint } });
    expect(await run(line)).toMatchObject({ code: 1, stdout: "", stderr: hint });
  });

  it("gives a hint for a brand with the maximum number of receivers", async () => {
    fake.receivers.push(...Array.from({ length: 20 }, (_, at) => receiverOf({ id: `rcv_${at}`, url: `https://${at}.example/` })));
    expect(await run(`${CREATE} payout.paid`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("brandctl receivers delete RECEIVER makes room"),
    });
  });
});

describe("a URL that is called in another form than given", () => {
  it.each([
    ["https://Bücher.Example:443/in?t=tok3n", "https://Bücher.Example:443/in…", "https://xn--bcher-kva.example/in…"],
    ["HTTPS://hooks.ulap.example", "HTTPS://hooks.ulap.example", "https://hooks.ulap.example/"],
    ["https://ulap.example/a/../ü", "https://ulap.example/a/../ü", "https://ulap.example/%C3%BC"],
    [`https://Ulap.example/${"x".repeat(40)}`, `https://Ulap.example/${"x".repeat(23)}…`, `https://ulap.example/${"x".repeat(23)}…`],
    ["https://ulap.example/?t='tok3n", "https://ulap.example/?t='…", "https://ulap.example/?t=%27…"],
  ])("is noted with both: %s", async (url, given, called) => {
    const note = `The URL is called in its normal form:\n  given   ${given}\n  called  ${called}\n`;
    const { stdout, stderr } = await run(CREATE.replace(/--url \S+/, `--url ${url}`) + " payout.paid");
    expect(stdout).toBe(`${SECRET}\n`);
    expect(stderr).toContain(note);
    fake.receivers.push(receiverOf());
    expect((await run(`receivers update rcv_1 --brand brd_1 --url ${url}`)).stderr).toBe(`\n${note}`);
  });

  it("is not noted with --json, nor where both are the same", async () => {
    expect((await run(`${CREATE.replace("hooks.ulap", "HOOKS.ulap")} payout.paid --json`)).stderr).toBe("");
    expect((await run(`${CREATE.replace("/in?", "/other?")} payout.paid`)).stderr).not.toContain("normal form");
    expect((await run("receivers update rcv_made0 --brand brd_1 --label L")).stderr).toBe("");
  });
});
