import type { Delivery } from "@brand-records/console-contract";

/** Attempts of a delivery, unless RETRY_DELAYS_SECONDS is set. */
const ATTEMPTS_MAX = 10;

/** "Retrying, attempt 3 of 10" for a delivery that waits after a failure; undefined for every other. */
export const retryText = ({ state, attempts }: Pick<Delivery, "state" | "attempts">): string | undefined =>
  state === "pending" && attempts > 0
    ? `Retrying, attempt ${attempts + 1}${attempts < ATTEMPTS_MAX ? ` of ${ATTEMPTS_MAX}` : ""}`
    : undefined;

/**
 * When the next attempt may be made, in milliseconds since the epoch: as soon as it is due and sending is not paused.
 *
 * @returns undefined unless the delivery waits for an attempt
 */
export function nextAttemptAt({ state, due_at }: Pick<Delivery, "state" | "due_at">, pausedUntil: string | null): number | undefined {
  if (state !== "pending" || due_at === null) return undefined;
  return Math.max(Date.parse(due_at), pausedUntil === null ? Number.NEGATIVE_INFINITY : Date.parse(pausedUntil));
}

/** Whether an attempt waits for nothing but room: its receiver has others in flight, or is tried with one first. */
export const isDue = (next: number, now: number): boolean => next <= now;

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];

/** Time left in words, in its two largest units: "4 min 5 s", "2 h 10 min"; "now" if none is left. */
export function timeLeft(ms: number): string {
  const left = Math.ceil(ms / SECOND) * SECOND;
  if (left <= 0) return "now";
  if (left < MINUTE) return `${left / SECOND} s`;
  if (left < HOUR) return `${Math.floor(left / MINUTE)} min ${(left % MINUTE) / SECOND} s`;
  if (left < DAY) return `${Math.floor(left / HOUR)} h ${Math.floor((left % HOUR) / MINUTE)} min`;
  return `${Math.floor(left / DAY)} d ${Math.floor((left % DAY) / HOUR)} h`;
}
