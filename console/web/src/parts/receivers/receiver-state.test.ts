import type { Receiver } from "@brand-records/console-contract";
import { explanationOf, lastAttemptText } from "./receiver-state.ts";

const CHANGED_AT = "2026-11-22T08:00:00.000Z";

const receiver = (
  failures_in_a_row: number,
  last_outcome: string | null,
  last_status: number | null = null,
  last_delivery_at = "2026-11-22T09:00:00.000Z",
): Receiver =>
  ({
    enabled: true,
    disabled_reason: null,
    failures_in_a_row,
    last_outcome,
    last_status,
    last_delivery_at,
    updated_at: CHANGED_AT,
  }) as Receiver;

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

it("says of a receiver without failures that a failed last attempt was a test", () => {
  expect(lastAttemptText(receiver(0, "refused", 500))).toBe("HTTP 500, a test");
  expect(lastAttemptText(receiver(1, "refused", 500))).toBe("HTTP 500");
  // Enabling it or changing its URL has ended the failures since.
  expect(lastAttemptText(receiver(0, "refused", 500, CHANGED_AT))).toBe("HTTP 500");
  // What the egress proxy refuses counts for no receiver.
  expect(lastAttemptText(receiver(0, "proxy_refused"))).not.toContain("a test");
  expect(lastAttemptText({ ...receiver(0, "refused", 410), enabled: false })).toBe("HTTP 410");
});
