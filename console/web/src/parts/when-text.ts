import { dateFormat } from "./formats.ts";

const ZONE = { timeZone: "Asia/Manila" } as const;
const CLOCK = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
const DAY = { day: "numeric", month: "short" } as const;
const YEAR = { year: "numeric" } as const;
const SECONDS = { second: "2-digit" } as const;

const format = (parts: Intl.DateTimeFormatOptions) => dateFormat({ ...ZONE, ...parts });
const TIME = format(CLOCK);
const SHORT = format({ ...DAY, ...CLOCK });
const SHORT_WITH_YEAR = format({ ...DAY, ...YEAR, ...CLOCK });
const EXACT_TIME = format({ ...CLOCK, ...SECONDS });
const EXACT = format({ ...DAY, ...CLOCK, ...SECONDS });
const EXACT_WITH_YEAR = format({ ...DAY, ...YEAR, ...CLOCK, ...SECONDS });
const FULL = format({ dateStyle: "full", timeStyle: "medium", hourCycle: "h23" });

export interface Precision {
  /** The time alone if it is today. */
  readonly isBrief?: boolean;
  /** With seconds, and the time alone if it is today. */
  readonly isExact?: boolean;
}

/** Days in Manila, `YYYY-MM-DD`. */
interface DaysOfMoment {
  readonly day: string;
  readonly presentDay: string;
}

/** A moment in Manila time: its day and time, with the year if that is another one than the present. */
export function whenText(date: Date, { day, presentDay }: DaysOfMoment, { isBrief = false, isExact = false }: Precision): string {
  const isToday = day === presentDay;
  const isThisYear = day.slice(0, 4) === presentDay.slice(0, 4);
  if (isToday && isExact) return EXACT_TIME.format(date);
  if (isToday && isBrief) return TIME.format(date);
  if (isExact) return (isThisYear ? EXACT : EXACT_WITH_YEAR).format(date);
  return (isThisYear ? SHORT : SHORT_WITH_YEAR).format(date);
}

/** Day and time in Manila: "Nov 22, 22:09". @param at milliseconds since the epoch */
export const momentText = (at: number): string => SHORT.format(at);

export const fullText = (date: Date): string => `${FULL.format(date)}, Manila time`;
