import { isDue, nextAttemptAt, retryText, timeLeft, attemptsText, sendCommand } from "./delivery-texts.ts";

it("says which attempt is next once one has failed", () => {
  expect(retryText({ state: "pending", attempts: 2 })).toBe("Retrying, attempt 3 of 10");
  expect(retryText({ state: "pending", attempts: 9 })).toBe("Retrying, attempt 10 of 10");
  // An installation may allow more.
  expect(retryText({ state: "pending", attempts: 10 })).toBe("Retrying, attempt 11");
});

it.each([
  ["pending", 0],
  ["held", 2],
  ["sending", 2],
  ["delivered", 3],
  ["failed", 10],
] as const)("says nothing of the kind if it is %s after %p attempts", (state, attempts) => {
  expect(retryText({ state, attempts })).toBeUndefined();
});

it("the next attempt waits for the end of a pause", () => {
  const [early, late] = ["2026-11-22T08:00:00.000Z", "2026-11-22T08:05:00.000Z"];
  expect(nextAttemptAt({ state: "pending", due_at: early }, null)).toBe(Date.parse(early));
  expect(nextAttemptAt({ state: "pending", due_at: early }, late)).toBe(Date.parse(late));
  expect(nextAttemptAt({ state: "pending", due_at: late }, early)).toBe(Date.parse(late));
  expect(nextAttemptAt({ state: "held", due_at: null }, late)).toBeUndefined();
});

it("an attempt whose time has come, as the pause is over, has none to show", () => {
  const next = nextAttemptAt({ state: "pending", due_at: "2026-11-22T08:00:00.000Z" }, null) ?? 0;
  expect([-1, 0, 1].map((ms) => isDue(next, next + ms))).toEqual([false, true, true]);
});

it.each([
  [-5_000, "now"],
  [0, "now"],
  [1, "1 s"],
  [59_001, "1 min 0 s"],
  [245_000, "4 min 5 s"],
  [7_800_000, "2 h 10 min"],
  [90_000_000, "1 d 1 h"],
])("%p ms left: %s", (ms, text) => {
  expect(timeLeft(ms)).toBe(text);
});

const delivery = { attempts: 3, state: "pending", last_outcome: "refused", last_duration_ms: 1_204 } as const;

it("counts the finished attempts, and says how long the last one took", () => {
  expect(attemptsText(delivery)).toBe("3 attempts, the last 1,204 ms");
  expect(attemptsText({ ...delivery, state: "sending" })).toBe("2 attempts, the last 1,204 ms");
  expect(attemptsText({ ...delivery, attempts: 1, last_duration_ms: 0 })).toBe("1 attempt, 0 ms");
});

it("says nothing before the first has finished, and no duration that is not known", () => {
  expect(attemptsText({ ...delivery, attempts: 0, last_outcome: null, last_duration_ms: null })).toBeUndefined();
  expect(attemptsText({ ...delivery, attempts: 1, state: "sending", last_outcome: null })).toBeUndefined();
  expect(attemptsText({ ...delivery, last_duration_ms: null })).toBe("3 attempts");
});

it("writes the event as it was sent, whatever its texts hold, and sends that file", () => {
  const body = JSON.stringify({ id: "evt_1", data: { note: "it's $HOME `x`\nEVENT" } });
  expect(sendCommand("brand-records", "payout.paid", body).split("\n")).toEqual([
    "cat > event.json <<'EVENT'",
    body,
    "EVENT",
    "brand-records events send payout.paid --body event.json \\",
    "  --to http://localhost:3000/hooks --secret-file secret",
  ]);
});
