import { OFFSET } from "../../../parts/filters/days.ts";

const DAY_MS = 86_400_000;
const KEPT_DAYS = 30;

export const earliestSince = (now: number): number => now - KEPT_DAYS * DAY_MS;
export const usualSince = (now: number): number => now - DAY_MS;

export type Since = { readonly instant: string } | { readonly problem: string };

/** Reads what the input has: the start of a minute in Manila, at most 30 days ago. */
export function readSince(text: string, now: number): Since {
  const instant = `${text}:00${OFFSET}`;
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) ? Date.parse(instant) : Number.NaN;
  if (Number.isNaN(ms)) return { problem: "Choose a day and a time." };
  if (ms > now) return { problem: "This is in the future." };
  // The minute that is exactly 30 days ago counts, too.
  if (ms < earliestSince(now) - 60_000) return { problem: `Events are kept for ${KEPT_DAYS} days. Choose a later time.` };
  return { instant };
}
