import type { Receiver } from "@brand-records/console-contract";

const REASONS: Readonly<Record<string, string>> = {
  member: "by a member",
  gone: "because it responded with 410 Gone",
  failing: "because every attempt failed for five days",
};

export const stateOf = ({ enabled, paused_until }: Receiver) =>
  enabled ? (paused_until === null ? ("enabled" as const) : ("paused" as const)) : ("disabled" as const);

/** Why it is disabled, in words; undefined if it is not. */
export const reasonOf = ({ disabled_reason }: Receiver): string | undefined =>
  disabled_reason === null ? undefined : (REASONS[disabled_reason] ?? disabled_reason);
