const ZONE = { timeZone: "Asia/Manila" } as const;
const SHORT = new Intl.DateTimeFormat("en-PH", {
  ...ZONE,
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  hour12: false,
});
const SHORT_WITH_YEAR = new Intl.DateTimeFormat("en-PH", { ...ZONE, day: "numeric", month: "short", year: "numeric" });
const FULL = new Intl.DateTimeFormat("en-PH", { ...ZONE, dateStyle: "full", timeStyle: "medium", hour12: false });
const YEAR = new Intl.DateTimeFormat("en", { ...ZONE, year: "numeric" });

const isThisYear = (date: Date): boolean => YEAR.format(date) === YEAR.format(new Date());

/** A moment in Manila time: the day and time, or the date if it is of another year; in full as a tooltip. */
export function When({ at }: { readonly at: string }) {
  const date = new Date(at);
  return (
    <time dateTime={at} title={`${FULL.format(date)}, Manila time`}>
      {(isThisYear(date) ? SHORT : SHORT_WITH_YEAR).format(date)}
    </time>
  );
}
