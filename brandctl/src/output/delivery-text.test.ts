import { widthOf } from "@brand-records/command-line";
import type { Attempt, Delivery } from "@brand-records/proto/webhook/v1";
import pc from "picocolors";
import { attemptOf, deliveryOf } from "../../test/messages.ts";
import { deliveriesTable, deliveryText } from "./delivery-text.ts";

const PLAIN = pc.createColors(false);
const RUNNING = { failures_in_a_row: 0 };
const PAUSED = { paused_until: "2026-11-21T02:03:10.123Z", failures_in_a_row: 10 };
const textOf = (delivery: Delivery, attempts: readonly Attempt[] = [], pause: typeof RUNNING = RUNNING): string =>
  deliveryText(delivery, attempts, pause, PLAIN);

it("shows deliveries in columns, and below whether the receiver is paused", () => {
  const deliveries = [
    deliveryOf({ id: "dlv_5", state: "sending", attempts: 3, last_outcome: "refused", last_http_status: 503 }),
    deliveryOf({ id: "dlv_4", state: "sending", attempts: 1 }),
    deliveryOf({ id: "dlv_3", attempts: 2, last_outcome: "timeout", due_at: "2026-11-21T09:00:07.000Z" }),
    deliveryOf({ id: "dlv_2", state: "failed", attempts: 10, finished_at: "2026-11-21T08:40:00.000Z" }),
    deliveryOf({
      state: "delivered",
      attempts: 1,
      test: true,
      finished_at: "2026-11-21T08:31:00.000Z",
      last_outcome: "accepted",
      last_http_status: 204,
    }),
  ];
  const table = [
    "ID     TYPE              STATE      LAST ATTEMPT  CREATED (UTC)     DUE/FINISHED",
    "dlv_5  payout.paid       sending    2: HTTP 503   2026-11-21 08:30  -",
    "dlv_4  payout.paid       sending    -             2026-11-21 08:30  -",
    "dlv_3  payout.paid       pending    2: timeout    2026-11-21 08:30  2026-11-21 09:00:07",
    "dlv_2  payout.paid       failed     10            2026-11-21 08:30  2026-11-21 08:40:00",
    "dlv_1  payout.paid test  delivered  1: HTTP 204   2026-11-21 08:30  2026-11-21 08:31:00",
  ];
  expect(deliveriesTable(deliveries, RUNNING, PLAIN, "none").split("\n")).toEqual(table);
  const paused = ["", "Pending deliveries wait: the receiver is paused until 02:03:10 UTC after 10 failures."];
  expect(deliveriesTable(deliveries, PAUSED, PLAIN, "none").split("\n")).toEqual([...table, ...paused]);
  expect(deliveriesTable([], PAUSED, PLAIN, "none").split("\n")).toEqual(["none", ...paused]);
});

it("fits into 120 columns, and one delivery's text has the outcome in full", () => {
  const delivery = deliveryOf({
    id: `dlv_${"0".repeat(26)}`,
    event_type: "submission.approved",
    state: "delivered",
    attempts: 10,
    test: true,
    sign_with_next: true,
    finished_at: "2026-11-21T08:31:00.000Z",
    last_outcome: "forbidden_address",
  });
  const error = "no TLS, or its certificate is not trusted (UNABLE_TO_VERIFY_LEAF_SIGNATURE)";
  const table = deliveriesTable([delivery], RUNNING, PLAIN, "");
  expect(table).toContain("submission.approved next  delivered  10: forbidd…");
  const text = textOf(delivery, [attemptOf({ attempt: 10, outcome: "forbidden_address", error, http_status: null })]);
  expect(text).toContain("submission.approved (test --next)\n");
  expect(text.replace(/\n {50,}/, " ")).toContain(error);
  expect(`${table}\n${text}`.split("\n").filter((line) => widthOf(line) > 120)).toEqual([]);
});

it("shows each attempt and its response, control characters replaced, and times to the second", () => {
  const text = textOf(deliveryOf({ state: "delivered", attempts: 2, due_at: "2026-11-21T08:31:07.123Z" }), [
    attemptOf({ response: Buffer.from("over\u001b[2Jload\r\n\tlater\u202e") }),
    attemptOf({ attempt: 2, outcome: "accepted", http_status: 204, error: null, response: Buffer.alloc(0) }),
  ]);
  expect(text).toContain("State           delivered\n");
  expect(text).toContain("Due (UTC)       2026-11-21 08:31:07\n");
  expect(text.split("\n").slice(-7)).toEqual([
    "ATTEMPT  STARTED (UTC)            TOOK  OUTCOME   STATUS  ERROR",
    "      1  2026-11-21 08:30:01  1,250 ms  refused      500  status 500",
    "      2  2026-11-21 08:30:01  1,250 ms  accepted     204  -",
    "",
    "Response to attempt 1",
    "  over\ufffd[2Jload",
    "      later\ufffd",
  ]);
});

it.each<[string, Partial<Delivery>, typeof RUNNING]>([
  ["sending: attempt 3 in progress", { state: "sending", attempts: 3 }, RUNNING],
  ["pending: the receiver is paused until 02:03:10 UTC after 10 failures", {}, PAUSED],
  ["pending", {}, RUNNING],
  ["delivered", { state: "delivered" }, PAUSED],
  ["held: the receiver is disabled", { state: "held" }, RUNNING],
])("says what a delivery waits for: %s", (state, delivery, pause) => {
  expect(textOf(deliveryOf(delivery), [], pause)).toContain(`State           ${state}\n`);
});

it.each([
  [3_000, "in progress since 02:03:10 UTC (up to 15 s)"],
  [25_000, "without a result since 02:03:10 UTC: the process that made it may have ended"],
])("says since when an attempt is in progress, and how long it may take: %i ms", (ms, progress) => {
  const sending_since = new Date(Date.now() - ms).toISOString();
  const text = textOf(deliveryOf({ state: "sending", attempts: 3, sending_since, deadline_ms: 15_000 }));
  expect(text.replaceAll(sending_since.slice(11, 19), "02:03:10")).toContain(`State           sending: attempt 3 ${progress}\n`);
});

it("shows a response that attempts in a row got once", () => {
  const attempts = ["no", "no", "", "no", "busy", "no", "no"].map((response, at) =>
    attemptOf({ attempt: at + 1, response: Buffer.from(response) }),
  );
  const text = textOf(deliveryOf(), attempts);
  expect(text.slice(text.indexOf("Response to")).split("\n")).toEqual([
    "Response to attempt 1",
    "  no",
    "",
    "Attempts 2, 4: the same response as attempt 1",
    "",
    "Response to attempt 5",
    "  busy",
    "",
    "Response to attempt 6",
    "  no",
    "",
    "Attempt 7: the same response as attempt 6",
  ]);
});

it("shows the beginning of a long response", () => {
  const text = textOf(deliveryOf(), [attemptOf({ response: Buffer.from("x".repeat(16_384)) })]);
  expect(text.length).toBeLessThan(3_000);
  expect(text).toContain("--json has the rest");
});
