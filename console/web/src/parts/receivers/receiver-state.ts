import type { Receiver } from "@brand-records/console-contract";
import { outcomeText } from "../deliveries/delivery-texts.ts";
import type { State } from "../state-badge.tsx";

const REASONS: Readonly<Record<string, string>> = {
  member: "by an owner",
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

type LastAttempt = Pick<Receiver, "enabled" | "failures_in_a_row" | "last_outcome" | "last_status" | "last_delivery_at" | "updated_at">;

/**
 * Whether the last attempt is known to be a test's: it does not count. An accepted delivery would have ended the failures, and one that failed would
 * be the first of them, unless the egress proxy refused it. Enabling a receiver and changing its URL end them, too.
 */
function isTest({ enabled, failures_in_a_row, last_outcome, last_delivery_at, updated_at }: LastAttempt): boolean {
  if (last_outcome === "accepted") return failures_in_a_row > 0;
  if (!enabled || failures_in_a_row > 0 || last_outcome === null || last_outcome === "proxy_refused") return false;
  return last_delivery_at !== null && Date.parse(last_delivery_at) > Date.parse(updated_at);
}

/** What became of the last attempt; undefined if that is not known. */
export function lastAttemptText(receiver: LastAttempt): string | undefined {
  const { last_outcome, last_status } = receiver;
  if (last_outcome === null) return undefined;
  return `${outcomeText(last_outcome, last_status)}${isTest(receiver) ? ", a test" : ""}`;
}
