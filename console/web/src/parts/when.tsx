import { useSyncExternalStore } from "react";
import { today } from "./filters/days.ts";
import { dayChanges } from "./present-day.ts";

const ZONE = { timeZone: "Asia/Manila" } as const;
const SHORT = new Intl.DateTimeFormat("en-PH", {
  ...ZONE,
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});
const SHORT_WITH_YEAR = new Intl.DateTimeFormat("en-PH", { ...ZONE, day: "numeric", month: "short", year: "numeric" });
const FULL = new Intl.DateTimeFormat("en-PH", { ...ZONE, dateStyle: "full", timeStyle: "medium", hourCycle: "h23" });
const EXACT_TIME = new Intl.DateTimeFormat("en-PH", { ...ZONE, hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const EXACT = new Intl.DateTimeFormat("en-PH", {
  ...ZONE,
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
const TIME = new Intl.DateTimeFormat("en-PH", { ...ZONE, hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

const onDayChange = dayChanges(globalThis);

function formatFor(day: string, presentDay: string, { isBrief = false, isExact = false }: Precision): Intl.DateTimeFormat {
  const isToday = day === presentDay;
  if (isExact) return isToday ? EXACT_TIME : EXACT;
  if (isBrief && isToday) return TIME;
  return day.slice(0, 4) === presentDay.slice(0, 4) ? SHORT : SHORT_WITH_YEAR;
}

/** Day and time in Manila: "Nov 22, 22:09". @param at milliseconds since the epoch */
export const momentText = (at: number): string => SHORT.format(at);

interface Precision {
  /** The time alone if it is today. */
  readonly isBrief?: boolean;
  /** With seconds, and the time alone if it is today. */
  readonly isExact?: boolean;
}

/** A moment in Manila time: the day and time, or the date if it is of another year; in full as a tooltip. */
export function When({ at, ...precision }: Precision & { readonly at: string }) {
  const date = new Date(at);
  const presentDay = useSyncExternalStore(onDayChange, () => today());
  return (
    <time dateTime={at} title={`${FULL.format(date)}, Manila time`}>
      {formatFor(today(date), presentDay, precision).format(date)}
    </time>
  );
}
