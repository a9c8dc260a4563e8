import { factsText, widthOf } from "@brand-records/command-line";
import type { Receiver } from "@brand-records/proto/webhook/v1";
import { EVENT_TYPE_NAMES } from "@brand-records/resources";
import pc from "picocolors";
import { receiverOf } from "../../test/messages.ts";
import { receiverFacts, receiversTable } from "./receiver-text.ts";

const PLAIN = pc.createColors(false);
const tableOf = (...receivers: Receiver[]): string[] => receiversTable(receivers, PLAIN).split("\n");
const textOf = (receiver: Receiver): string => factsText(receiverFacts(receiver), PLAIN);
const PAUSED = { paused_until: "2026-11-21T02:03:10.123Z", failures_in_a_row: 10 };

it("shows state and figures in columns, and the beginning of each URL", () => {
  const disabled = { enabled: false, disabled_reason: "gone", disabled_at: "2026-11-21T08:33:00.000Z" };
  const table = tableOf(
    receiverOf({ last_status: 200, last_outcome: "accepted", last_delivery_at: "2026-11-21T08:31:07.000Z" }),
    receiverOf({
      id: "rcv_3",
      last_status: 0,
      last_outcome: "timeout",
      last_delivery_at: "2026-11-21T02:03:05.000Z",
      failures: 10,
      ...PAUSED,
    }),
    receiverOf({
      id: "rcv_2",
      url: "https://b.example/",
      label: "名前\u001b[2J",
      events: ["payout.paid", "campaign.settled"],
      ...disabled,
      last_status: 410,
      last_outcome: "refused",
      last_delivery_at: "2026-11-21T08:32:00.000Z",
      failures: 12,
      waiting: 25_000,
    }),
  );
  expect(table).toEqual([
    "ID     STATE     LAST OUTCOME  LAST ATTEMPT (UTC)   FAILURES  WAITING  LABEL",
    "rcv_1  enabled   HTTP 200      2026-11-21 08:31:07         0        0  Ledger",
    "  https://hooks.ulap.example/events…  payout.paid",
    "rcv_3  paused    timeout       2026-11-21 02:03:05        10        0  Ledger",
    "  https://hooks.ulap.example/events…  payout.paid",
    "  paused until 02:03:10 UTC after 10 failures",
    "rcv_2  disabled  HTTP 410      2026-11-21 08:32:00        12    25000  名前\ufffd[2J",
    "  https://b.example  payout.paid, campaign.settled",
    "  disabled 2026-11-21 08:33:00 UTC (gone)",
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
])("shows the last outcome %s with status %s as %s", (last_outcome, last_status, text) => {
  expect(tableOf(receiverOf({ last_outcome, last_status }))[1]).toContain(`rcv_1  enabled  ${text} `);
});

it.each(["x".repeat(80), "名".repeat(80), "دفتر ".repeat(16).trim()])(
  "fits into 120 columns with the label %s and the longest URL, which one receiver's text has in full",
  (label) => {
    const url = `https://${"h".repeat(60)}.${"h".repeat(60)}.example/${"p".repeat(1_900)}?t=1`;
    const longest = receiverOf({
      id: `rcv_${"0".repeat(26)}`,
      url,
      label,
      events: [...EVENT_TYPE_NAMES],
      last_delivery_at: "2026-11-21T08:31:00.000Z",
      ...PAUSED,
      failures: 1_234_567,
      waiting: 100_000,
      failures_in_a_row: 1_234_567,
      rotating: true,
      last_status: 0,
      last_outcome: "forbidden_address",
    });
    const disabled = { ...longest, enabled: false, disabled_reason: "failing", disabled_at: "2026-11-21T08:33:00.000Z" };
    const lines = tableOf(longest, disabled);
    expect(lines.filter((line) => widthOf(line) > 120)).toEqual([]);
    expect(lines).toContain("  paused until 02:03:10 UTC after 1,234,567 failures");
    const text = textOf(longest);
    for (const whole of [label, url, EVENT_TYPE_NAMES.join(", "), "forbidden_address"]) expect(text).toContain(whole);
  },
);

it.each([
  ["https://a.example/events/ledger", "https://a.example/events/ledger"],
  [`https://a.example/${"x".repeat(23)}`, `https://a.example/${"x".repeat(23)}`],
  [`https://a.example/${"x".repeat(24)}`, `https://a.example/${"x".repeat(23)}…`],
  ["https://a.example/events?token=tok3n", "https://a.example/events…"],
  ["https://a.example/?token=tok3n", "https://a.example/…"],
  ["https://a.example/", "https://a.example"],
])("shows the first 24 characters of a path, and never a query: %s", (url, shown) => {
  expect(tableOf(receiverOf({ url }))[2]).toBe(`  ${shown}  payout.paid`);
});

it.each([
  [null, "no test signed with it accepted yet"],
  ["2026-11-21T08:41:00.000Z", "accepted 2026-11-21 08:41:00"],
])("shows one receiver with times to the second, its pause and its next secret; test accepted: %s", (next_secret_accepted_at, accepted) => {
  const last = { last_status: 500, last_outcome: "refused", last_delivery_at: "2026-11-21T02:03:05.000Z", failures: 12 };
  const rotation = { rotating: true, next_secret_at: "2026-11-21T08:40:00.000Z", next_secret_accepted_at };
  expect(textOf(receiverOf({ ...last, ...PAUSED, ...rotation })).split("\n")).toEqual([
    "ID                  rcv_1",
    "Brand               brd_1",
    "Label               Ledger",
    "State               paused until 02:03:10 UTC after 10 failures, rotating",
    `Next secret         made 2026-11-21 08:40:00, ${accepted}`,
    "Last outcome        HTTP 500",
    "Last attempt (UTC)  2026-11-21 02:03:05",
    "Failures            12",
    "Waiting             0",
    "Events              payout.paid",
    "URL                 https://hooks.ulap.example/events?token=tok3n",
    "Max in flight       64",
    "Created (UTC)       2026-11-21 08:30:00",
    "Updated (UTC)       2026-11-21 08:30:00",
  ]);
  expect(textOf(receiverOf())).toContain("Next secret         none\n");
});
