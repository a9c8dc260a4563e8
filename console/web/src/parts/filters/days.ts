import { dateFormat } from "../formats.ts";

/** Manila's offset from UTC, all year: it has no summer time. */
export const OFFSET = "+08:00";
const OFFSET_MS = 8 * 3_600_000;
const DAY = /^20\d\d-\d\d-\d\d$/;

const plusDays = (day: string, days: number): string => {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
};

/** Whether a text is a calendar day of this century, as `<input type="date">` writes it. While a year is typed, it is of year 2 or 20. */
export const isDay = (text: unknown): text is string =>
  typeof text === "string" && DAY.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`)) && plusDays(text, 0) === text;

/** Days in Manila, both included. */
export interface Days {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The instants of a range of days in Manila: from the first one's midnight until before the midnight that ends the last. */
export const instantsOf = ({ from, to }: Days): { from?: string; to?: string } => ({
  ...(isDay(from) && { from: `${from}T00:00:00${OFFSET}` }),
  ...(isDay(to) && { to: `${plusDays(to, 1)}T00:00:00${OFFSET}` }),
});

// The zone is UTC, so that no day shifts.
const IN_WORDS = dateFormat({ timeZone: "UTC", weekday: "short", day: "numeric", month: "short", year: "numeric" });
const IN_FULL = dateFormat({ timeZone: "UTC", dateStyle: "full" });

/** A day in words: "Sun, Nov 22, 2026". */
export const dayText = (day: string): string => IN_WORDS.format(new Date(`${day}T00:00:00Z`));

/** "Sunday, November 22, 2026". */
export const fullDayText = (day: string): string => IN_FULL.format(new Date(`${day}T00:00:00Z`));

/** The minute of a moment in Manila, as `<input type="datetime-local">` writes it: "2026-11-22T09:20". */
export const manilaMinute = (ms: number): string => new Date(ms + OFFSET_MS).toISOString().slice(0, 16);

/** The present day in Manila. */
export const today = (now = new Date()): string => manilaMinute(now.getTime()).slice(0, 10);

/** Calls back each minute, with which a day may end. @returns what ends it */
export function eachMinute(callback: () => void): () => void {
  const timer = setInterval(callback, 60_000);
  return () => clearInterval(timer);
}
