import { PassThrough } from "node:stream";
import { EVENT_TYPE_NAMES } from "@brand-records/brand-events";
import type { Receiver } from "@brand-records/proto/webhook/v1";
import { FakeAccounts } from "../testing/fake-accounts.ts";
import { FakeAudit } from "../testing/fake-audit.ts";
import { FakeWebhook, NEXT_SECRET, receiverOf, SECRET } from "../testing/fake-webhook.ts";
import { serve, type Served } from "../testing/serve.ts";
import { brandctl, type Outcome, type Surroundings } from "../testing/test-terminal.ts";

describe("brandctl receivers", () => {
  let fake: FakeWebhook;
  let served: Served;
  const run = (line: string, surroundings: Surroundings = {}): Promise<Outcome> =>
    brandctl(line.split(" "), { env: { WEBHOOK_ADDRESS: served.address, ACCOUNTS_ADDRESS: served.address }, ...surroundings });

  beforeAll(async () => {
    fake = new FakeWebhook();
    served = await serve(...fake.served, ...new FakeAudit().served);
  });
  afterAll(() => served.stop());
  beforeEach(() => void fake.receivers.splice(0));

  const CREATE = "receivers create --brand brd_1 --url https://hooks.ulap.example/in?t=tok3n --label Ledger --events";

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
      expect((await brandctl(args, { env: { WEBHOOK_ADDRESS: served.address, ACCOUNTS_ADDRESS: served.address } })).code).toBe(0);
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
      const hint = expect.stringContaining("brandctl receivers list --brand BRAND --json");
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

  describe("list", () => {
    it("shows state and figures in columns, and the beginning of each URL", async () => {
      fake.receivers.push(
        receiverOf({ last_status: 200, last_delivery_at: "2026-11-21T08:31:00.000Z" }),
        receiverOf({
          id: "rcv_2",
          url: "https://b.example/",
          label: "名前\u001b[2J",
          events: ["payout.paid", "campaign.settled"],
          enabled: false,
          disabled_reason: "gone",
          disabled_at: "2026-11-21T08:33:00.000Z",
          last_status: 0,
          last_delivery_at: "2026-11-21T08:32:00.000Z",
          failures: 12,
          waiting: 25_000,
        }),
        receiverOf({ id: "rcv_9", brand_id: "brd_other" }),
      );
      const { code, stdout } = await run("receivers list --brand brd_1");
      expect(code).toBe(0);
      expect(stdout.split("\n")).toEqual([
        "ID     STATE                             LAST                          FAILURES  WAITING  EVENTS                         URL                                 LABEL",
        "rcv_1  enabled                           200 2026-11-21 08:31                 0        0  payout.paid                    https://hooks.ulap.example/events…  Ledger",
        "rcv_2  disabled 2026-11-21 08:33 (gone)  no response 2026-11-21 08:32        12    25000  payout.paid, campaign.settled  https://b.example                   名前\ufffd[2J",
        "",
      ]);
    });

    it("shows the first 24 characters of a path, and never a query", async () => {
      const urls = [
        "https://a.example/events/ledger",
        "https://a.example/events/books",
        `https://a.example/${"x".repeat(23)}`,
        `https://a.example/${"x".repeat(24)}`,
        "https://a.example/events?token=tok3n",
        "https://a.example/?token=tok3n",
        "https://a.example/",
      ];
      fake.receivers.push(...urls.map((url, at) => receiverOf({ id: `rcv_${at}`, url })));
      const { stdout } = await run("receivers list --brand brd_1");
      expect(stdout.match(/https:\S+/g)).toEqual([
        "https://a.example/events/ledger",
        "https://a.example/events/books",
        `https://a.example/${"x".repeat(23)}`,
        `https://a.example/${"x".repeat(23)}…`,
        "https://a.example/events…",
        "https://a.example/…",
        "https://a.example",
      ]);
      const { receivers } = (await run("receivers list --brand brd_1 --json")).json<{ receivers: Receiver[] }>();
      expect(receivers.map(({ url }) => url)).toEqual(urls);
    });

    it("gives a hint if there are none", async () => {
      expect((await run("receivers list --brand brd_1")).stdout).toBe(
        "The brand has no receivers. Is the id right? See brandctl brands list\n",
      );
      const accounts = await serve(...new FakeAccounts().served);
      const env = { WEBHOOK_ADDRESS: served.address, ACCOUNTS_ADDRESS: accounts.address };
      try {
        expect(await run("receivers list --brand brd_nope1", { env })).toMatchObject({
          code: 1,
          stdout: "",
          stderr: expect.stringContaining("There is no brand with this id"),
        });
        const { code, stderr } = await run("receivers list --brand brd_nope1 --json", { env });
        expect({ code, ...JSON.parse(stderr) }).toMatchObject({ code: 1, error: { code: "not_found", field: "brand_id" } });
      } finally {
        await accounts.stop();
      }
    });
  });

  describe("update", () => {
    it("changes what is given, and leaves the rest", async () => {
      fake.receivers.push(receiverOf());
      const { receiver } = (await run("receivers update rcv_1 --brand brd_1 --label Books --json")).json<{ receiver: Receiver }>();
      expect(receiver).toEqual(receiverOf({ label: "Books" }));
      await run("receivers update rcv_1 --brand brd_1 --url https://new.example/ --events campaign.settled");
      expect(fake.receivers).toEqual([receiverOf({ label: "Books", url: "https://new.example/", events: ["campaign.settled"] })]);
    });

    it("is refused when nothing is given", async () => {
      expect(await run("receivers update rcv_1 --brand brd_1")).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("Nothing to change"),
      });
    });
  });

  describe("update --max-in-flight", () => {
    it("sets it alone", async () => {
      fake.receivers.push(receiverOf());
      expect((await run("receivers update rcv_1 --brand brd_1 --max-in-flight 1 --json")).code).toBe(0);
      expect(fake.receivers).toEqual([receiverOf({ max_in_flight: 1 })]);
    });

    it.each(["0", "65", "-1", "1.5", "x"])("refuses %s", async (count) => {
      expect(await run(`receivers update rcv_1 --brand brd_1 --max-in-flight ${count}`)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("from 1 to 64"),
      });
    });
  });

  describe("rotate and activate", () => {
    beforeEach(() => void fake.receivers.push(receiverOf()));

    it("rotate writes the next secret alone to standard output, and names the next command", async () => {
      const { code, stdout, stderr } = await run("receivers rotate rcv_1 --brand brd_1");
      expect({ code, stdout }).toEqual({ code: 0, stdout: `${NEXT_SECRET}\n` });
      expect(stderr).toContain("enabled, rotating");
      expect(stderr).toContain("brandctl receivers activate");
      expect((await run("receivers rotate rcv_1 --brand brd_1 --json")).json()).toMatchObject({ id: "rcv_1", secret: NEXT_SECRET });
    });

    it("activate ends the rotation, and gives a hint without one", async () => {
      await run("receivers rotate rcv_1 --brand brd_1");
      expect((await run("receivers activate rcv_1 --brand brd_1 --json")).json()).toEqual({ receiver: receiverOf() });
      expect(await run("receivers activate rcv_1 --brand brd_1")).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("brandctl receivers rotate RECEIVER makes one"),
      });
    });
  });

  describe("test", () => {
    it("queues a delivery, and names the command that shows it", async () => {
      fake.receivers.push(receiverOf());
      const { stdout, stderr } = await run("receivers test rcv_1 --brand brd_1");
      expect(stdout).toBe("dlv_test is queued.\n");
      expect(stderr).toContain("brandctl deliveries show dlv_test\n");
      const outcome = await run("receivers test rcv_1 --brand brd_1 --type payout.paid --json");
      expect(outcome.json()).toEqual({ delivery_id: "dlv_test", event_id: "evt_1" });
    });

    it("gives a hint about a disabled receiver, and knows no other event types", async () => {
      fake.receivers.push(receiverOf({ enabled: false }));
      expect(await run("receivers test rcv_1 --brand brd_1")).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("brandctl receivers enable RECEIVER"),
      });
      expect((await run("receivers test rcv_1 --brand brd_1 --type ping")).code).toBe(2);
    });
  });

  describe("disable and enable", () => {
    const held = (): void => void fake.receivers.push(receiverOf({ enabled: false, disabled_reason: "member", waiting: 3 }));

    it("disable holds the receiver's deliveries", async () => {
      fake.receivers.push(receiverOf({ waiting: 3 }));
      expect(await run("receivers disable rcv_1 --brand brd_1")).toMatchObject({
        code: 0,
        stdout: expect.stringContaining("disabled 2026-11-21 08:40 (member)"),
      });
      expect(fake.receivers).toMatchObject([{ enabled: false, waiting: 3 }]);
    });

    it.each([
      ["--release", 0, 3],
      ["--drop", 3, 0],
    ])("enable %s drops %i and leaves %i", async (option, dropped, waiting) => {
      held();
      const outcome = await run(`receivers enable rcv_1 --brand brd_1 ${option} --json`);
      expect(outcome.json()).toMatchObject({ receiver: { enabled: true, waiting }, dropped });
    });

    it("enable prints the number of deliveries it dropped", async () => {
      held();
      expect((await run("receivers enable rcv_1 --brand brd_1 --drop")).stderr).toContain("3 deliveries dropped.");
    });

    it("enable --release says nothing beside the receiver", async () => {
      held();
      expect((await run("receivers enable rcv_1 --brand brd_1 --release")).stderr).toBe("");
    });

    it.each(["--release", "--drop"])("enable %s of an enabled receiver says that nothing changed", async (option) => {
      fake.receivers.push(receiverOf({ waiting: 3 }));
      const { code, stdout, stderr } = await run(`receivers enable rcv_1 --brand brd_1 ${option}`);
      expect({ code, stdout, stderr }).toEqual({
        code: 0,
        stdout: expect.stringContaining("rcv_1  enabled"),
        stderr: "The receiver was enabled already: nothing changed, and nothing was dropped.\n",
      });
      expect((await run(`receivers enable rcv_1 --brand brd_1 ${option} --json`)).json()).toEqual({
        receiver: receiverOf({ waiting: 3 }),
        dropped: 0,
      });
    });

    it.each(["", " --release --drop"])("enable%s is refused: it needs one of the two", async (options) => {
      held();
      expect(await run(`receivers enable rcv_1 --brand brd_1${options}`)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("--release sends them, --drop drops them permanently"),
      });
      expect(fake.receivers).toMatchObject([{ enabled: false, waiting: 3 }]);
    });
  });

  describe("delete", () => {
    /** A terminal at which this is typed. */
    const typing = (text: string): Surroundings => {
      const stdin = Object.assign(new PassThrough(), { isTTY: true });
      stdin.write(`${text}\n`);
      return { stdin, isTerminal: true };
    };
    beforeEach(() => void fake.receivers.push(receiverOf({ waiting: 3 })));

    it.each(["y", "YES", " yes "])("asks, and deletes at %j", async (reply) => {
      const { code, stdout, stderr } = await run("receivers delete rcv_1 --brand brd_1", typing(reply));
      expect(stderr).toContain(
        'Permanently delete rcv_1, "Ledger" at https://hooks.ulap.example/events…, with 3 waiting deliveries? [y/N]',
      );
      expect({ code, stdout }).toEqual({ code: 0, stdout: "rcv_1 is deleted, and 3 waiting deliveries with it.\n" });
      expect(fake.receivers).toEqual([]);
    });

    it.each(["", "n", "no", "yep", "rcv_1"])("deletes nothing at %j", async (reply) => {
      expect(await run("receivers delete rcv_1 --brand brd_1", typing(reply))).toMatchObject({
        code: 1,
        stdout: "",
        stderr: expect.stringContaining("Nothing was deleted."),
      });
      expect(fake.receivers).toHaveLength(1);
    });

    it("does not ask with --yes", async () => {
      const outcome = await run("receivers delete rcv_1 --brand brd_1 --yes --json");
      expect(outcome.json()).toEqual({ deleted: { brand_id: "brd_1", receiver_id: "rcv_1", dropped: 3 } });
      expect(fake.receivers).toEqual([]);
    });

    it("is refused without --yes where there is no terminal", async () => {
      for (const surroundings of [{}, { isTerminal: true }]) {
        expect(await run("receivers delete rcv_1 --brand brd_1", surroundings)).toMatchObject({
          code: 2,
          stderr: expect.stringContaining("Add --yes to go on."),
        });
      }
      expect((await run("receivers delete rcv_1 --brand brd_1 --json", typing("y"))).code).toBe(2);
      expect(fake.receivers).toHaveLength(1);
    });
  });

  it.each([
    "rotate rcv_1",
    "activate rcv_1",
    "test rcv_1",
    "update rcv_1 --label x",
    "enable rcv_1 --drop",
    "disable rcv_1",
    "delete rcv_1 --yes",
  ])("%s gives a hint if the brand does not have the receiver", async (line) => {
    fake.receivers.push(receiverOf({ brand_id: "brd_other" }));
    const hint = "brandctl receivers list --brand BRAND shows a brand's receivers; with --brand, only that brand's are found";
    expect(await run(`receivers ${line} --brand brd_1`)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: `error: The brand brd_1 has no receiver with this id\n${hint}\n`,
    });
  });

  it("names the address that cannot be reached and its source, with a hint", async () => {
    const closed = await serve();
    await closed.stop();
    const { code, stderr } = await run(`receivers list --brand brd_1 --webhook-address ${closed.address}`);
    expect(code).toBe(1);
    expect(stderr).toContain(`webhook cannot be reached at ${closed.address} (--webhook-address): nothing listens there.`);
    expect((await run("receivers list --brand brd_1", { env: {} })).stderr).toContain("no --webhook-address, no WEBHOOK_ADDRESS");
  });
});
