import { EVENT_TYPE_NAMES } from "@brand-records/brand-events";
import type { Receiver } from "@brand-records/proto/webhook/v1";
import { FakeAccounts } from "../../test/fake-accounts.ts";
import { FakeAudit } from "../../test/fake-audit.ts";
import { FakeWebhook, NEXT_SECRET, receiverOf, SECRET } from "../../test/fake-webhook.ts";
import { serve, type Served } from "../../test/serve.ts";
import { widthOf } from "../output/printable.ts";
import { brandctl, CTRL_C, CTRL_D, pressing, typing, type Outcome, type Surroundings } from "../../test/test-terminal.ts";

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

  describe("list", () => {
    it("shows state and figures in columns, and the beginning of each URL", async () => {
      fake.receivers.push(
        receiverOf({ last_status: 200, last_outcome: "accepted", last_delivery_at: "2026-11-21T08:31:07.000Z" }),
        receiverOf({
          id: "rcv_3",
          last_status: 0,
          last_outcome: "timeout",
          last_delivery_at: "2026-11-21T02:03:05.000Z",
          failures: 10,
          paused_until: "2026-11-21T02:03:10.123Z",
          failures_in_a_row: 10,
        }),
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
        "ID     STATE     LAST OUTCOME  LAST ATTEMPT (UTC)   FAILURES  WAITING  LABEL",
        "rcv_1  enabled   HTTP 200      2026-11-21 08:31:07         0        0  Ledger",
        "  https://hooks.ulap.example/events…  payout.paid",
        "rcv_3  paused    timeout       2026-11-21 02:03:05        10        0  Ledger",
        "  https://hooks.ulap.example/events…  payout.paid",
        "  paused until 02:03:10 UTC after 10 failures",
        "rcv_2  disabled  no response   2026-11-21 08:32:00        12    25000  名前\ufffd[2J",
        "  https://b.example  payout.paid, campaign.settled",
        "  disabled 2026-11-21 08:33:00 UTC (gone)",
        "",
      ]);
    });

    it.each([
      ["accepted", 204, "HTTP 204"],
      ["refused", 500, "HTTP 500"],
      ["timeout", 0, "timeout"],
      // The response began, and did not end in time.
      ["timeout", 200, "timeout"],
      ["connect", 0, "connect"],
      [null, 503, "HTTP 503"],
      [null, null, "-"],
    ])("shows the last outcome %s with status %s as %s", async (last_outcome, last_status, text) => {
      fake.receivers.push(receiverOf({ last_outcome, last_status }));
      expect((await run("receivers list --brand brd_1")).stdout.split("\n")[1]).toContain(`rcv_1  enabled  ${text} `);
    });

    it.each(["x".repeat(80), "名".repeat(80), "دفتر ".repeat(16).trim()])(
      "fits into 120 columns with the label %s and the longest URL, which show and --json have in full",
      async (label) => {
        const id = `rcv_${"0".repeat(26)}`;
        const url = `https://${"h".repeat(60)}.${"h".repeat(60)}.example/${"p".repeat(1_900)}?t=1`;
        const times = { last_delivery_at: "2026-11-21T08:31:00.000Z", paused_until: "2026-11-21T02:03:10.123Z" };
        const counts = { failures: 1_234_567, waiting: 100_000, failures_in_a_row: 1_234_567 };
        const rotating = { rotating: true, last_status: 0, last_outcome: "forbidden_address" };
        fake.receivers.push(receiverOf({ id, url, label, events: [...EVENT_TYPE_NAMES], ...times, ...counts, ...rotating }));
        const disabled = { enabled: false, disabled_reason: "failing", disabled_at: "2026-11-21T08:33:00.000Z" };
        fake.receivers.push(receiverOf({ ...fake.receivers[0], id: `rcv_${"1".repeat(26)}`, ...disabled }));
        const { stdout } = await run("receivers list --brand brd_1");
        expect(stdout.split("\n").filter((line) => widthOf(line) > 120)).toEqual([]);
        expect(stdout).toContain("paused until 02:03:10 UTC after 1,234,567 failures");
        const shown = (await run(`receivers show ${id} --brand brd_1`)).stdout;
        for (const text of [label, url, EVENT_TYPE_NAMES.join(", "), "forbidden_address"]) expect(shown).toContain(text);
        expect((await run("receivers list --brand brd_1 --json")).json()).toMatchObject({
          receivers: [
            { label, url },
            { label, url },
          ],
        });
      },
    );

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

  describe("show", () => {
    it("shows whether it is paused, and times to the second", async () => {
      const last = { last_status: 500, last_outcome: "refused", last_delivery_at: "2026-11-21T02:03:05.000Z", failures: 12 };
      fake.receivers.push(receiverOf({ ...last, paused_until: "2026-11-21T02:03:10.123Z", failures_in_a_row: 11 }));
      const { stdout } = await run("receivers show rcv_1 --brand brd_1");
      expect(stdout.split("\n")).toEqual([
        "ID                  rcv_1",
        "Brand               brd_1",
        "Label               Ledger",
        "State               paused until 02:03:10 UTC after 11 failures",
        "Next secret         none",
        "Last outcome        HTTP 500",
        "Last attempt (UTC)  2026-11-21 02:03:05",
        "Failures            12",
        "Waiting             0",
        "Events              payout.paid",
        "URL                 https://hooks.ulap.example/events?token=tok3n",
        "Max in flight       64",
        "Created (UTC)       2026-11-21 08:30:00",
        "Updated (UTC)       2026-11-21 08:30:00",
        "",
      ]);
      expect((await run("receivers show rcv_1 --brand brd_1 --json")).json()).toEqual({ receiver: fake.receivers[0] });
    });

    it.each([
      [null, "no test signed with it accepted yet"],
      ["2026-11-21T08:41:00.000Z", "accepted 2026-11-21 08:41:00"],
    ])("shows the next secret; test accepted: %s", async (next_secret_accepted_at, text) => {
      const rotation = { rotating: true, next_secret_at: "2026-11-21T08:40:00.000Z", next_secret_accepted_at };
      fake.receivers.push(receiverOf(rotation));
      const { stdout } = await run("receivers show rcv_1 --brand brd_1");
      expect(stdout).toContain(`Next secret         made 2026-11-21 08:40:00, ${text}\n`);
    });

    it("shows what a service of release 0.2.0 returns, which knows neither outcomes nor pauses", async () => {
      const { last_outcome: _, paused_until: __, ...old } = receiverOf({ last_status: 0, last_delivery_at: "2026-11-21T02:03:05.000Z" });
      fake.receivers.push(old);
      for (const line of ["receivers show rcv_1 --brand brd_1", "receivers list --brand brd_1"]) {
        expect(await run(line)).toMatchObject({ code: 0, stdout: expect.stringMatching(/enabled(.|\n)*no response(.|\n)*02:03:05/) });
      }
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

    it("rotate writes the next secret alone to standard output, and names the next commands", async () => {
      const { code, stdout, stderr } = await run("receivers rotate rcv_1 --brand brd_1");
      expect({ code, stdout }).toEqual({ code: 0, stdout: `${NEXT_SECRET}\n` });
      expect(stderr).toContain("enabled, rotating");
      expect(stderr).toContain("brandctl receivers test rcv_1 --next");
      expect(stderr).toContain("brandctl receivers activate rcv_1");
    });

    it.each([
      [null, ""],
      ["2026-11-21T08:41:00.000Z", ", accepted 2026-11-21 08:41:00 UTC"],
    ])("rotate replaces a next secret (accepted: %s) only with --replace", async (next_secret_accepted_at, accepted) => {
      const rotating = receiverOf({ rotating: true, next_secret_at: "2026-11-21T08:39:00.000Z", next_secret_accepted_at });
      fake.receivers.splice(0, 1, { ...rotating });
      const outcome = await run("receivers rotate rcv_1 --brand brd_1");
      expect(outcome).toMatchObject({ code: 1, stdout: "" });
      expect(outcome.stderr).toContain(
        `error: The receiver has a next secret already, made 2026-11-21 08:39:00 UTC${accepted}. ` +
          "Rotating again replaces it for good: what has that secret alone then refuses deliveries.\n",
      );
      expect(outcome.stderr).toContain("brandctl receivers activate rcv_1 makes it the current one");
      expect(outcome.stderr).toContain("brandctl receivers rotate rcv_1 --replace replaces it");
      expect(fake.receivers).toEqual([rotating]);
      const replaced = await run("receivers rotate rcv_1 --brand brd_1 --replace --json");
      expect(replaced.json()).toMatchObject({ id: "rcv_1", secret: NEXT_SECRET });
      expect(fake.receivers).toMatchObject([{ next_secret_at: "2026-11-21T08:40:00.000Z", next_secret_accepted_at: null }]);
    });

    it("activate ends the rotation once a test by the next secret was accepted, and gives a hint before", async () => {
      await run("receivers rotate rcv_1 --brand brd_1");
      expect(await run("receivers activate rcv_1 --brand brd_1")).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(
          "brandctl receivers test rcv_1 --next sends such a test; brandctl receivers activate rcv_1 --force activates without one",
        ),
      });
      Object.assign(fake.receivers[0] ?? {}, { next_secret_accepted_at: "2026-11-21T08:41:00.000Z" });
      expect((await run("receivers activate rcv_1 --brand brd_1 --json")).json()).toEqual({ receiver: receiverOf() });
    });

    it("activate --force needs no test", async () => {
      await run("receivers rotate rcv_1 --brand brd_1");
      expect((await run("receivers activate rcv_1 --brand brd_1 --force --json")).json()).toEqual({ receiver: receiverOf() });
    });

    it("activate and test --next give a hint without a next secret", async () => {
      for (const line of ["activate rcv_1 --force", "test rcv_1 --next"]) {
        expect(await run(`receivers ${line} --brand brd_1`)).toMatchObject({
          code: 1,
          stderr: expect.stringContaining("brandctl receivers rotate rcv_1 makes one"),
        });
      }
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

    it("--next queues one that is signed with the next secret, and deliveries list shows it", async () => {
      fake.receivers.push(receiverOf({ rotating: true }));
      fake.deliveries.splice(0);
      await run("receivers test rcv_1 --brand brd_1");
      await run("receivers test rcv_1 --brand brd_1 --next");
      expect(fake.deliveries.map(({ sign_with_next }) => sign_with_next)).toEqual([true, false]);
      const { stdout } = await run("deliveries list --receiver rcv_1 --brand brd_1");
      expect(stdout).toMatch(/payout\.paid next .*\n.*payout\.paid test  /);
    });

    it("says that the receiver is paused", async () => {
      fake.receivers.push(receiverOf({ paused_until: "2026-11-21T02:03:10.123Z", failures_in_a_row: 10 }));
      expect((await run("receivers test rcv_1 --brand brd_1")).stderr).toContain(
        "The receiver is paused until 02:03:10 UTC after 10 failures.\n",
      );
      expect((await run("receivers test rcv_1 --brand brd_1 --json")).stderr).toBe("");
    });

    it("gives a hint about a disabled receiver, and knows no other event types", async () => {
      fake.receivers.push(receiverOf({ enabled: false }));
      expect(await run("receivers test rcv_1 --brand brd_1")).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("brandctl receivers enable rcv_1 --release"),
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
        stdout: expect.stringContaining("disabled 2026-11-21 08:40:00 UTC (member)"),
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

    it.each([
      [CTRL_C, 130],
      [CTRL_D, 1],
    ])("deletes nothing at the key %j", async (key, code) => {
      expect(await run("receivers delete rcv_1 --brand brd_1", pressing(key))).toMatchObject({
        code,
        stdout: "",
        stderr: expect.stringContaining("Nothing was deleted."),
      });
      expect(fake.receivers).toHaveLength(1);
    });

    it.each(["--yes", "-y"])("does not ask with %s", async (option) => {
      const outcome = await run(`receivers delete rcv_1 --brand brd_1 ${option} --json`);
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
    "show rcv_1",
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
