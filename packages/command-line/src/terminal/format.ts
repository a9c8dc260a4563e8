const PESOS = { minimumFractionDigits: 2, maximumFractionDigits: 2 } as const;

/** `PHP 1,234.50` for 123450 centavos. */
export function pesos(centavos: number): string {
  return `PHP ${(centavos / 100).toLocaleString("en", PESOS)}`;
}

/** `2026-11-21 08:30` in UTC; `-` if there is no time. */
export function shortTime(time: string | null | undefined): string {
  return time == null ? "-" : `${time.slice(0, 10)} ${time.slice(11, 16)}`;
}

/** `2026-11-21 08:30:05` in UTC; `-` if there is no time. */
export function timeWithSeconds(time: string | null | undefined): string {
  return time == null ? "-" : `${time.slice(0, 10)} ${time.slice(11, 19)}`;
}

/** `1 event`, `1,234 events`. */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? singular : plural}`;
}

/** `02:03:10 UTC`, for a time so close that its day is clear. */
export function clockTime(time: string): string {
  return `${time.slice(11, 19)} UTC`;
}

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** `3 minutes ago`, rounded down. @param elapsedMs below a minute, or in the future by another clock: `less than a minute ago` */
export function ago(elapsedMs: number): string {
  for (const [unit, ms] of UNITS) {
    if (elapsedMs >= ms) return `${counted(Math.floor(elapsedMs / ms), unit)} ago`;
  }
  return "less than a minute ago";
}
