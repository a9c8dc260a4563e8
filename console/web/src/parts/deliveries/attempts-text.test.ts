import { attemptsText } from "./attempts-text.ts";

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
