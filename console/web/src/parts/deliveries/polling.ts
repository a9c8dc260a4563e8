import type { Delivery } from "@brand-records/console-contract";

const SOON_MS = 10_000;
/** Decision 12 has what it costs. */
export const LIVE_MS = 1_500;
const QUIET_MS = 15_000;
/** A page that a person has not touched for so long is looked at from time to time. */
export const UNUSED_AFTER_MS = 15 * 60_000;

interface PollOptions {
  /** Whether what is new is to show at once: a list that a person looks at. */
  readonly isLive?: boolean;
  readonly now?: number;
}

/** How soon to look again: soon while something may happen. */
export const pollMs = (deliveries: readonly Delivery[] = [], { isLive = false, now = Date.now() }: PollOptions = {}): number =>
  isLive || deliveries.some((delivery) => isMoving(delivery, now)) ? LIVE_MS : QUIET_MS;

const isMoving = ({ state, due_at }: Delivery, now: number): boolean =>
  state === "sending" || (state === "pending" && due_at !== null && Date.parse(due_at) - now < SOON_MS);
