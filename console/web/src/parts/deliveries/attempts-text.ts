import type { Delivery } from "@brand-records/console-contract";

type Attempts = Pick<Delivery, "attempts" | "state" | "last_outcome" | "last_duration_ms">;

/** "3 attempts, the last 120 ms": the finished ones. Undefined before the first. */
export function attemptsText({ attempts, state, last_outcome, last_duration_ms }: Attempts): string | undefined {
  const finished = state === "sending" ? attempts - 1 : attempts;
  if (last_outcome === null || finished < 1) return undefined;
  const count = finished === 1 ? "1 attempt" : `${finished.toLocaleString("en-PH")} attempts`;
  if (last_duration_ms === null) return count;
  return `${count}, ${finished === 1 ? "" : "the last "}${last_duration_ms.toLocaleString("en-PH")} ms`;
}
