/** Manila's offset from UTC, all year: it has no summer time. */
const OFFSET = { text: "+08:00", ms: 8 * 3_600_000 } as const;
const DAY_MS = 86_400_000;
const KEPT_DAYS = 30;

/** The minute of a moment in Manila, as `<input type="datetime-local">` writes it: "2026-11-22T09:20". */
export const manilaMinute = (ms: number): string => new Date(ms + OFFSET.ms).toISOString().slice(0, 16);

/** The day of a moment in Manila: "2026-11-22". */
export const manilaDay = (ms: number): string => manilaMinute(ms).slice(0, 10);

export const earliestSince = (now: number): number => now - KEPT_DAYS * DAY_MS;
export const usualSince = (now: number): number => now - DAY_MS;

export type Since = { readonly instant: string } | { readonly problem: string };

/** Reads what the input has: the start of a minute in Manila, at most 30 days ago. */
export function readSince(text: string, now: number): Since {
  const instant = `${text}:00${OFFSET.text}`;
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) ? Date.parse(instant) : Number.NaN;
  if (Number.isNaN(ms)) return { problem: "Choose a day and a time." };
  if (ms > now) return { problem: "This is in the future." };
  // The minute that is exactly 30 days ago counts, too.
  if (ms < earliestSince(now) - 60_000) return { problem: `Events are kept for ${KEPT_DAYS} days. Choose a later time.` };
  return { instant };
}
