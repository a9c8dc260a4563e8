import type { Delivery } from "@brand-records/console-contract";

const SOON_MS = 10_000;

/** How soon to look again: soon while something is about to happen or the first delivery is awaited, later after an error. Hidden tabs do not look at all. */
export function pollMs(deliveries: readonly Delivery[] | undefined, error: Error | null, now: number = Date.now()): number {
  if (error !== null) return 30_000;
  const isMoving = deliveries?.some(
    ({ state, due_at }) => state === "sending" || (state === "pending" && due_at !== null && Date.parse(due_at) - now < SOON_MS),
  );
  return isMoving || deliveries?.length === 0 ? 2_000 : 15_000;
}
