import type { Receiver } from "@brand-records/console-contract";

/** Whether deliveries wait that "Send all waiting now" would send sooner: the pause or a retry's delay keeps them. The others are being sent. */
export const isHeldBack = ({ enabled, paused_until, waiting, waiting_due }: Receiver): boolean =>
  enabled && (paused_until === null ? waiting > waiting_due : waiting > 0);

/** Whether its counts are about to change: deliveries are sent, or due. */
export const isSending = ({ enabled, paused_until, waiting_due, in_flight }: Receiver): boolean =>
  in_flight > 0 || (enabled && paused_until === null && waiting_due > 0);

/** Deliveries that waited: some are being sent by the time the service answers, and one at least was there. */
export const totalOf = ({ waiting, in_flight }: Receiver): number => Math.max(1, waiting + in_flight);

const HOUR_MS = 3_600_000;

/** A receiver's attempts of the hours that a person may look at its page. */
export const attemptsAround = (receiver_id: string, now: number) => ({
  receiver_id,
  from: new Date(now - HOUR_MS).toISOString(),
  to: new Date(now + 24 * HOUR_MS).toISOString(),
});

type Counts = Pick<Receiver, "enabled" | "waiting" | "waiting_due" | "in_flight" | "paused_until">;

export interface WaitingProgress {
  /** `overtaken`: newer deliveries keep the counts from saying when the last of those that waited was tried. */
  readonly state: "sending" | "sent" | "overtaken" | "stopped" | "disabled";
  /** Deliveries tried since, at least, among those that waited at the start. */
  readonly tried: number;
  /** Deliveries that wait no longer, at least: delivered, failed for good or dropped. */
  readonly left: number;
  /** When `tried` last grew, in milliseconds since the epoch. */
  readonly grownAt: number;
}

/** Attempts end within 15 seconds: for a minute without a newly tried one, new deliveries come as fast as others leave. */
export const OVERTAKEN_MS = 60_000;

const bounded = (count: number, max: number): number => Math.min(max, Math.max(0, count));

/**
 * How far a receiver is with what waited when "Send all" was pressed. The counts include deliveries that came since, so it never says too much.
 * Once it has ended it stays as it is: what the receiver does later is about other deliveries.
 *
 * @param before undefined at the start
 * @param total deliveries that waited
 * @param at when the counts were read, in milliseconds since the epoch
 */
export function waitingProgress(before: WaitingProgress | undefined, total: number, counts: Counts, at: number): WaitingProgress {
  if (before !== undefined && before.state !== "sending") return before;
  const { waiting, waiting_due, in_flight } = counts;
  const tried = Math.max(before?.tried ?? 0, bounded(total - waiting_due - in_flight, total));
  const left = Math.max(before?.left ?? 0, bounded(total - waiting - in_flight, total));
  const grownAt = before === undefined || tried > before.tried ? at : before.grownAt;
  return { state: stateOf(counts, at - grownAt), tried, left, grownAt };
}

function stateOf({ enabled, waiting_due, in_flight, paused_until }: Counts, unchangedMs: number): WaitingProgress["state"] {
  if (!enabled) return "disabled";
  if (waiting_due + in_flight === 0) return "sent";
  if (paused_until !== null) return "stopped";
  return unchangedMs >= OVERTAKEN_MS ? "overtaken" : "sending";
}

/**
 * The progress in words.
 *
 * @param isAccepted no attempt has failed meanwhile: these counts alone do not tell accepted deliveries from those that failed for good
 */
export function waitingText(total: number, { state, tried, left }: WaitingProgress, isAccepted = false): string {
  const number = (count: number): string => count.toLocaleString("en-PH");
  if (state === "sending") return `Sending what waited: ${number(tried)} of ${number(total)} tried.`;
  if (state === "overtaken") {
    return `At least ${number(tried)} of ${number(total)} that waited were tried. The rest cannot be distinguished from newer ones.`;
  }
  if (isAccepted) return total === 1 ? "What waited was accepted." : `All ${number(total)} that waited were accepted.`;
  if (state === "sent" && left === total) {
    return total === 1
      ? "What waited was tried, and waits no longer."
      : `All ${number(total)} that waited were tried, and none waits any longer.`;
  }
  const leftText = `${number(left)} of ${number(total)} wait no longer`;
  if (state === "sent") return `${leftText}. The others wait for a retry.`;
  return `Stopped, because ${state === "disabled" ? "the receiver was disabled" : "attempts failed in a row"}: ${leftText}.`;
}
