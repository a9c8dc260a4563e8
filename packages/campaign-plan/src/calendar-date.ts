/** Whether it is `YYYY-MM-DD` and such a day exists, from year 1 to 9999. */
export function isCalendarDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith("0000")) return false;
  const day = new Date(`${text}T00:00:00Z`);
  // 30 February is rolled over to March rather than refused.
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}
