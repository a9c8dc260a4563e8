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
const DAY = new Intl.DateTimeFormat("en", { ...ZONE, dateStyle: "short" });
const YEAR = new Intl.DateTimeFormat("en", { ...ZONE, year: "numeric" });

const isSame = (format: Intl.DateTimeFormat, date: Date): boolean => format.format(date) === format.format(new Date());

function formatFor(date: Date, { isBrief = false, isExact = false }: Precision): Intl.DateTimeFormat {
  if (isExact) return isSame(DAY, date) ? EXACT_TIME : EXACT;
  if (isBrief && isSame(DAY, date)) return TIME;
  return isSame(YEAR, date) ? SHORT : SHORT_WITH_YEAR;
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
  return (
    <time dateTime={at} title={`${FULL.format(date)}, Manila time`}>
      {formatFor(date, precision).format(date)}
    </time>
  );
}
