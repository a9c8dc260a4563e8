/** Manila's clock is 8 hours ahead of UTC all year. */
const clock = (now: number): Date => new Date(now + 8 * 60 * 60 * 1_000);

/** @param now milliseconds since the epoch, as below @returns the day in Manila, such as `2026-11-23` */
export const manilaDay = (now: number): string => clock(now).toISOString().slice(0, 10);

/** @returns such as `Monday 2026-11-23` */
export const manilaWeekday = (now: number): string =>
  `${clock(now).toLocaleDateString("en", { weekday: "long", timeZone: "UTC" })} ${manilaDay(now)}`;

/** @returns such as `Monday 2026-11-23, 18:34` */
export const manilaTime = (now: number): string => `${manilaWeekday(now)}, ${clock(now).toISOString().slice(11, 16)}`;
