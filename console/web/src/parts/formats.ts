interface Format<Value> {
  format(value: Value): string;
}

/** A formatter that is made when it is first used: a page's first takes 12 ms, on a phone 50, and would come before everything else. */
function onFirstUse<Value>(make: () => Format<Value>): Format<Value> {
  let made: Format<Value> | undefined;
  return {
    format(value) {
      made ??= make();
      return made.format(value);
    },
  };
}

/** Writes dates, or milliseconds since the epoch, as people in the Philippines do. */
export const dateFormat = (options: Intl.DateTimeFormatOptions): Format<Date | number> =>
  onFirstUse(() => new Intl.DateTimeFormat("en-PH", options));

/** Writes numbers as people in the Philippines do. */
export const numberFormat = (options: Intl.NumberFormatOptions): Format<number> =>
  onFirstUse(() => new Intl.NumberFormat("en-PH", options));

/** The services count the deliveries of a receiver, and the events of a replay, up to here. */
const COUNTED_MAX = 100_000;

const number = (count: number): string => count.toLocaleString("en-PH");

/** A count in words: "1,204", or "100,000 or more" where counting ends. */
export const countText = (count: number, max: number = COUNTED_MAX): string => (count >= max ? `${number(max)} or more` : number(count));

/** A count with its noun: "1 delivery", "3 deliveries". */
export const countOf = (count: number, one: string, many: string, max?: number): string =>
  `${countText(count, max)} ${count === 1 ? one : many}`;

/** A duration in words: "85 ms", "1.2 s". */
export const durationText = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`);

const CONTROLS = /[\u202A-\u202E\u2066-\u2069]/g;

/** A text to read, with the characters that turn the direction of what follows them written out: they could make it read as another text. */
export const visibleControls = (text: string): string =>
  text.replace(CONTROLS, (control) => `[U+${control.charCodeAt(0).toString(16).toUpperCase()}]`);
