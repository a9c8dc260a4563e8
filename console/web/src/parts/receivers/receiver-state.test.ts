import type { Receiver } from "@brand-records/console-contract";
import { explanationOf, lastAttemptText } from "./receiver-state.ts";

const receiver = (failures_in_a_row: number, last_outcome: string | null, last_status: number | null = null): Receiver =>
  ({ enabled: true, disabled_reason: null, failures_in_a_row, last_outcome, last_status }) as Receiver;

it("says of a failing receiver that an accepted last attempt was a test", () => {
  expect(lastAttemptText(receiver(3, "accepted", 200))).toBe("HTTP 200, a test");
  expect(lastAttemptText(receiver(0, "accepted", 200))).toBe("HTTP 200");
  expect(lastAttemptText(receiver(3, "refused", 500))).toBe("HTTP 500");
  expect(lastAttemptText(receiver(0, null))).toBeUndefined();
});

it("does not call an accepted test the attempt that failed", () => {
  expect(explanationOf(receiver(1, "accepted", 200))).toBe("the last attempt, tests apart, failed");
  expect(explanationOf(receiver(1, "refused", 500))).toBe("the last attempt failed");
});
