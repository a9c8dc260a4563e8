import { clockTime, counted } from "@brand-records/command-line";

/** What a service returns of a last attempt. */
export interface LastAttempt {
  /** See Attempt.outcome in proto/webhook. */
  readonly outcome: string | null | undefined;
  /** 0 and absent: no response. */
  readonly status: number | null | undefined;
}

/** `HTTP 500` where a response came, else the outcome as docs/webhooks.md explains it, such as `timeout`; undefined before the first attempt. */
export function outcomeText({ outcome, status }: LastAttempt): string | undefined {
  if (outcome == null) return undefined;
  return status && ["accepted", "refused"].includes(outcome) ? `HTTP ${status}` : outcome;
}

export const failedColor = ({ outcome }: LastAttempt): "red" | undefined => (outcome != null && outcome !== "accepted" ? "red" : undefined);

export interface Pause {
  readonly paused_until?: string | null | undefined;
  readonly failures_in_a_row: number;
}

/** `paused until 02:03:10 UTC after 10 failures`; undefined unless paused. A pause lasts five minutes at most. */
export function pauseText({ paused_until, failures_in_a_row }: Pause): string | undefined {
  if (paused_until == null) return undefined;
  return `paused until ${clockTime(paused_until)} after ${counted(failures_in_a_row, "failure")}`;
}
