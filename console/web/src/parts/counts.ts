/** The services count the deliveries of a receiver, and the events of a replay, up to here. */
const COUNTED_MAX = 100_000;

const number = (count: number): string => count.toLocaleString("en-PH");

/** A count in words: "1,204", or "100,000 or more" where counting ends. */
export const countText = (count: number, max: number = COUNTED_MAX): string => (count >= max ? `${number(max)} or more` : number(count));

/** A count with its noun: "1 delivery", "3 deliveries". */
export const countOf = (count: number, one: string, many: string, max?: number): string =>
  `${countText(count, max)} ${count === 1 ? one : many}`;
