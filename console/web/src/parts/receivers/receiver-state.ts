import type { Receiver } from "@brand-records/console-contract";
import { outcomeText } from "../deliveries/outcome.ts";
import type { State } from "../state-badge.tsx";

const REASONS: Readonly<Record<string, string>> = {
  member: "by a member",
  gone: "because it responded with 410 Gone",
  failing: "because every attempt failed for five days",
};

type Health = Pick<Receiver, "enabled" | "paused_until" | "failures_in_a_row">;

/** Failing: the last attempt failed, tests apart. Paused: ten or more failed in a row, and sending waits. */
export function stateOf({ enabled, paused_until, failures_in_a_row }: Health): State {
  if (!enabled) return "disabled";
  if (paused_until !== null) return "paused";
  return failures_in_a_row > 0 ? "failing" : "enabled";
}

/** Why it is disabled, in words; undefined if it is not. */
export const reasonOf = ({ disabled_reason }: Pick<Receiver, "disabled_reason">): string | undefined =>
  disabled_reason === null ? undefined : (REASONS[disabled_reason] ?? disabled_reason);

/** What explains its state: why it is disabled, or how often it failed; undefined if all is well. */
export function explanationOf(receiver: Receiver): string | undefined {
  const { enabled, failures_in_a_row } = receiver;
  if (!enabled) return reasonOf(receiver);
  if (failures_in_a_row === 0) return undefined;
  if (failures_in_a_row === 1) return isTest(receiver) ? "the last attempt, tests apart, failed" : "the last attempt failed";
  return `${failures_in_a_row} attempts failed in a row`;
}

/** An accepted delivery would have ended the failures. An accepted test does not, but is the last attempt. */
const isTest = ({ failures_in_a_row, last_outcome }: Pick<Receiver, "failures_in_a_row" | "last_outcome">): boolean =>
  failures_in_a_row > 0 && last_outcome === "accepted";

/** What became of the last attempt; undefined if that is not known. */
export function lastAttemptText(receiver: Pick<Receiver, "failures_in_a_row" | "last_outcome" | "last_status">): string | undefined {
  const { last_outcome, last_status } = receiver;
  if (last_outcome === null) return undefined;
  return `${outcomeText(last_outcome, last_status)}${isTest(receiver) ? ", a test" : ""}`;
}
