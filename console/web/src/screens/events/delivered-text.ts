import type { Output } from "@brand-records/console-contract";

type Counts = Pick<Output<"events.list">["events"][number], "receivers" | "receivers_accepted">;

/** "3 of 5": the receivers that accepted an event, of those that it goes to. Empty if none were counted. */
export function deliveredText({ receivers, receivers_accepted }: Counts): string {
  if (receivers === null || receivers_accepted === null) return "";
  return receivers === 0 ? "No receiver" : `${receivers_accepted} of ${receivers}`;
}
