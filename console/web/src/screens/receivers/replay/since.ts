import { OFFSET } from "../../../parts/filters/days.ts";

const DAY_MS = 86_400_000;
const KEPT_DAYS = 30;

export const earliestSince = (now: number): number => now - KEPT_DAYS * DAY_MS;
export const usualSince = (now: number): number => now - DAY_MS;

export type Time<Instant> = { readonly instant: Instant } | { readonly problem: string };

const instantOf = (text: string): string => `${text}:00${OFFSET}`;
const INCOMPLETE = { problem: "Choose a day and a time." };

/** Reads the start of a minute in Manila. NaN: it is none. */
const msOf = (text: string): number => (/^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) ? Date.parse(instantOf(text)) : Number.NaN);

/** Reads what the input has: the start of a minute in Manila, at most 30 days ago. */
export function readSince(text: string, now: number): Time<string> {
  const ms = msOf(text);
  if (Number.isNaN(ms)) return INCOMPLETE;
  if (ms > now) return { problem: "This is in the future." };
  // The minute that is exactly 30 days ago counts, too.
  if (ms < earliestSince(now) - 60_000) return { problem: `Events are kept for ${KEPT_DAYS} days. Choose a later time.` };
  return { instant: instantOf(text) };
}

/** Reads the end, which comes after the start. Empty: the present. */
export function readUntil(text: string, since: string): Time<string | undefined> {
  if (text === "") return { instant: undefined };
  const ms = msOf(text);
  if (Number.isNaN(ms)) return INCOMPLETE;
  return ms > msOf(since) || Number.isNaN(msOf(since)) ? { instant: instantOf(text) } : { problem: "Is before the start" };
}
