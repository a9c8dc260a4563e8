import { EVENT_TYPE_NAMES } from "@brand-records/resources";
import type { Receiver } from "@brand-records/proto/webhook/v1";
import { widthOf } from "@brand-records/command-line";
import { FakeAccounts } from "../../test/fake-accounts.ts";
import { receiverOf } from "../../test/fake-webhook.ts";
import { serveReceivers } from "../../test/serve-receivers.ts";
import { serve } from "../../test/serve.ts";

const { env, fake, run } = serveReceivers();

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
        last_status: 410,
        last_outcome: "refused",
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
      "rcv_2  disabled  HTTP 410      2026-11-21 08:32:00        12    25000  名前\ufffd[2J",
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
    const withAccounts = { ...env(), ACCOUNTS_ADDRESS: accounts.address };
    try {
      expect(await run("receivers list --brand brd_nope1", { env: withAccounts })).toMatchObject({
        code: 1,
        stdout: "",
        stderr: expect.stringContaining("There is no brand with this id"),
      });
      const { code, stderr } = await run("receivers list --brand brd_nope1 --json", { env: withAccounts });
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
});
