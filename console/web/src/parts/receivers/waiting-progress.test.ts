import type { Receiver } from "@brand-records/console-contract";
import { isHeldBack, isSending, OVERTAKEN_MS, waitingProgress, waitingText, type WaitingProgress } from "./waiting-progress.ts";

const counts = (waiting: number, waiting_due: number, in_flight = 0, paused_until: string | null = null, enabled = true): Receiver =>
  ({ enabled, waiting, waiting_due, in_flight, paused_until }) as Receiver;
type Counts = Parameters<typeof counts>;

const PAUSED = "2026-11-22T08:00:00Z";

/** The progress of `total` after these counts, read a second apart. */
const after = (total: number, ...reads: Counts[]): WaitingProgress | undefined =>
  reads.reduce<WaitingProgress | undefined>(
    (before, read, second) => waitingProgress(before, total, counts(...read), second * 1_000),
    undefined,
  );

function textAfter(total: number, ...reads: Counts[]): string {
  const progress = after(total, ...reads);
  return progress === undefined ? "" : waitingText(total, progress);
}

it.each<[string, [number, ...Counts], string]>([
  ["while attempts are due or in flight, how many were tried", [7, 7, 7], "Sending what waited: 0 of 7 tried."],
  ["some are tried", [7, 4, 2, 1], "Sending what waited: 4 of 7 tried."],
  ["the last attempt has not ended", [7, 0, 0, 1], "Sending what waited: 6 of 7 tried."],
  ["more came meanwhile", [7, 12, 12], "Sending what waited: 0 of 7 tried."],
  ["none waits, which those that failed for good do not either", [7, 0, 0], "All 7 that waited were tried, and none waits any longer."],
  ["the only one was tried", [1, 0, 0], "What waited was tried, and waits no longer."],
  ["some failed again", [7, 2, 0], "5 of 7 wait no longer. The others wait for a retry."],
  ["sending is paused again", [1_200, 1_190, 1_180, 0, PAUSED], "Stopped, because attempts failed in a row: 10 of 1,200 wait no longer."],
  ["the receiver is disabled", [7, 5, 5, 0, null, false], "Stopped, because the receiver was disabled: 2 of 7 wait no longer."],
])("says if %s", (_, [total, ...read], expected) => {
  expect(textAfter(total, read)).toBe(expected);
});

it("stays as it ended, whatever comes later", () => {
  expect(textAfter(7, [7, 7], [0, 0], [3, 3, 1])).toBe("All 7 that waited were tried, and none waits any longer.");
  expect(textAfter(7, [7, 6, 0, PAUSED], [0, 0])).toBe("Stopped, because attempts failed in a row: 0 of 7 wait no longer.");
});

it("takes nothing back when new deliveries come", () => {
  expect(textAfter(7, [3, 2, 1], [9, 8, 1])).toBe("Sending what waited: 4 of 7 tried.");
});

it("ends at a receiver that always has something to send", () => {
  const busy: Counts = [3, 1, 2];
  const seconds = OVERTAKEN_MS / 1_000;
  expect(after(7, ...Array.from({ length: seconds }, () => busy))?.state).toBe("sending");
  expect(textAfter(7, ...Array.from({ length: seconds + 1 }, () => busy))).toBe(
    "At least 4 of 7 that waited were tried. The rest cannot be distinguished from newer ones.",
  );
});

it("offers to send what a pause or a retry's delay holds back, also once an attempt was accepted, and nothing else", () => {
  expect(isHeldBack(counts(6, 0))).toBe(true);
  expect(isHeldBack(counts(6, 6, 0, PAUSED))).toBe(true);
  expect(isHeldBack(counts(6, 6))).toBe(false);
  expect(isHeldBack(counts(0, 0, 0, PAUSED))).toBe(false);
  expect(isHeldBack(counts(6, 0, 0, null, false))).toBe(false);
});

it("calls accepted what the caller knows to be", () => {
  const progress = after(65, [65, 65], [0, 0]) as WaitingProgress;
  expect(waitingText(65, progress, true)).toBe("All 65 that waited were accepted.");
});

it("is sending while an attempt is in flight, or one is due and nothing keeps it", () => {
  const sending = [counts(0, 0, 1), counts(3, 1), counts(3, 0), counts(3, 3, 0, PAUSED), counts(3, 3, 0, null, false)].map(isSending);
  expect(sending).toEqual([true, true, false, false, false]);
});
