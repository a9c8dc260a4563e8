const RFC_3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** The first and last time that a record may hold. RFC 3339 cannot express later times; earlier ones are mistakes. */
export const EARLIEST_INSTANT = Date.UTC(2000, 0, 1);
export const LATEST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * Reads RFC 3339 with an offset and up to nine fractional digits.
 *
 * @returns milliseconds since the epoch, rounded down; undefined if the text is not such a time
 */
export function parseInstant(text: string): number | undefined {
  const match = RFC_3339.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = "", sign, offsetHour = "0", offsetMinute = "0"] = match;
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined;
  const milliseconds = fraction.slice(0, 3).padEnd(3, "0");
  // Date.parse turns 30 February into 2 March: comparing with the text again refuses it.
  const wall = `${year}-${month}-${day}T${hour}:${minute}:${second}.${milliseconds}Z`;
  const parsed = Date.parse(wall);
  if (Number.isNaN(parsed) || new Date(parsed).toISOString() !== wall) return undefined;
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000 * (sign === "-" ? -1 : 1);
  return parsed - offset;
}

const COMMON = /^(\d{4}-\d\d-\d\d)([Tt ])(\d\d:\d\d:\d\d(?:\.\d{1,9})?)(?:([Zz])|([+-]\d\d):?(\d\d))$/;

/** Returns RFC 3339 of a time as common clients write it, with a blank in place of T or an offset without a colon; any other text as it is. */
export const normalizedTime = (text: string): string =>
  text.replace(COMMON, (_, date: string, separator: string, time: string, utc: string | undefined, hours: string, minutes: string) =>
    [date, separator === " " ? "T" : separator, time, utc ?? `${hours}:${minutes}`].join(""),
  );

const WITHOUT_OFFSET = /^(?<date>\d{4}-\d\d-\d\d)(?:[T ](?<time>\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?))?$/;

/** Says what is wrong with a text that `parseInstant` refuses. A date, or a time without an offset, gets its own form for Manila. */
export function instantProblem(text: string): string {
  const { date, time } = WITHOUT_OFFSET.exec(text)?.groups ?? {};
  const corrected = `${date}T${time ?? "00:00"}${(time ?? "").length > "08:30".length ? "" : ":00"}+08:00`;
  if (parseInstant(corrected) === undefined) return "must be an RFC 3339 time with an offset, such as 2026-11-21T08:30:00+08:00";
  return `must be an RFC 3339 time with an offset: in Manila, ${text} ${time === undefined ? "begins at" : "is"} ${corrected}`;
}

const BEYOND_MILLISECONDS = /\.\d{3}\d*[1-9]/;

/** Like `parseInstant`, rounded up. */
export function parseInstantUp(text: string): number | undefined {
  const instant = parseInstant(text);
  return instant !== undefined && BEYOND_MILLISECONDS.test(text) ? instant + 1 : instant;
}

/** Formats as RFC 3339 in UTC with milliseconds and `Z`, the only form that the service sends. */
export function formatInstant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
