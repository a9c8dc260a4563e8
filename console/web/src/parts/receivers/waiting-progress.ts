import type { Receiver } from "@brand-records/console-contract";

type Counts = Pick<Receiver, "waiting" | "waiting_due" | "in_flight" | "paused_until">;

export interface WaitingProgress {
  readonly state: "sending" | "sent" | "stopped";
  /** Deliveries tried since, among those that waited at the start; like `accepted`. */
  readonly tried: number;
  readonly accepted: number;
}

const bounded = (count: number, max: number): number => Math.min(max, Math.max(0, count));

/**
 * How far a receiver is with what waited when "Send all" was pressed. New deliveries that come meanwhile count as not tried, so the progress
 * never says too much.
 *
 * @param total deliveries that waited
 */
export function waitingProgress(total: number, { waiting, waiting_due, in_flight, paused_until }: Counts): WaitingProgress {
  const tried = bounded(total - waiting_due - in_flight, total);
  const accepted = bounded(total - waiting - in_flight, total);
  if (waiting_due + in_flight === 0) return { state: "sent", tried, accepted };
  return { state: paused_until === null ? "sending" : "stopped", tried, accepted };
}

/** The progress in words. */
export function waitingText(total: number, { state, tried, accepted }: WaitingProgress): string {
  const number = (count: number): string => count.toLocaleString("en-PH");
  if (state === "sending") return `Sending what waited: ${number(tried)} of ${number(total)} tried.`;
  if (state === "stopped") return `Stopped, because attempts failed in a row: ${number(accepted)} of ${number(total)} accepted.`;
  if (accepted === total) return total === 1 ? "What waited was sent." : `All ${number(total)} that waited were sent.`;
  return `${number(accepted)} of ${number(total)} were accepted. The others wait for a retry, or have used up their attempts.`;
}
