const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** RFC 9110, section 5.6.7: IMF-fixdate, that of RFC 850, and asctime. */
const FORMS = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\d\d) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\d\d)-(?<month>[A-Z][a-z]{2})-(?<year>\d\d) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>\d\d:\d\d:\d\d) (?<year>\d{4})$/,
];

/**
 * Returns an HTTP date in milliseconds since the epoch; undefined if it is none. `Date.parse` alone takes half of everything else for a date.
 *
 * @param now decides the century of two digits: the year is less than fifty years away
 */
export function readHttpDate(text: string, now: number): number | undefined {
  const parts = FORMS.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined);
  if (parts === undefined) return undefined;
  const { day = "", month = "", year = "", time = "" } = parts;
  const pad = (number: number | string, length = 2): string => String(number).trim().padStart(length, "0");
  const fullYear = year.length === 4 ? year : fullYearOf(Number(year), new Date(now).getUTCFullYear());
  // A leap second counts as the one before it.
  const iso = `${pad(fullYear, 4)}-${pad(MONTHS.indexOf(month) + 1)}-${pad(day)}T${time.replace(/:60$/, ":59")}.000Z`;
  const at = Date.parse(iso);
  // V8 takes February 30 for March 2.
  return !Number.isNaN(at) && new Date(at).toISOString() === iso ? at : undefined;
}

function fullYearOf(lastTwoDigits: number, thisYear: number): number {
  const years = (lastTwoDigits - (thisYear % 100) + 100) % 100;
  return thisYear + (years > 50 ? years - 100 : years);
}
