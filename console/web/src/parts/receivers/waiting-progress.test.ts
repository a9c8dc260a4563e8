import { waitingProgress, waitingText } from "./waiting-progress.ts";

const counts = (waiting: number, waiting_due: number, in_flight = 0, paused_until: string | null = null) => ({
  waiting,
  waiting_due,
  in_flight,
  paused_until,
});
type Counts = Parameters<typeof counts>;
const textOf = (total: number, ...of: Counts): string => waitingText(total, waitingProgress(total, counts(...of)));

it.each<[string, [number, ...Counts], string]>([
  ["while attempts are due or in flight, how many were tried", [7, 7, 7], "Sending what waited: 0 of 7 tried."],
  ["some are tried", [7, 4, 2, 1], "Sending what waited: 4 of 7 tried."],
  ["the last attempt has not ended", [7, 0, 0, 1], "Sending what waited: 6 of 7 tried."],
  ["more came meanwhile", [7, 12, 12], "Sending what waited: 0 of 7 tried."],
  ["all were accepted", [7, 0, 0], "All 7 that waited were sent."],
  ["the only one was accepted", [1, 0, 0], "What waited was sent."],
  ["some failed again", [7, 2, 0], "5 of 7 were accepted. The others wait for a retry, or have used up their attempts."],
])("says if %s", (_, [total, ...of], expected) => {
  expect(textOf(total, ...of)).toBe(expected);
});

it("says that it stopped if sending is paused again", () => {
  expect(textOf(1_200, 1_190, 1_180, 0, "2026-11-22T08:00:00Z")).toBe("Stopped, because attempts failed in a row: 10 of 1,200 accepted.");
});
