import { nameIn, TIME_RANGES } from "../../parts/time-ranges.ts";

/** What the page can show: failed requests are kept for seven days. */
export const RANGES = TIME_RANGES;

export type RangeName = keyof typeof RANGES;

/** Shown without a choice. */
export const RANGE: RangeName = "week";

export const rangeNamed = (name: string | undefined): RangeName => nameIn(RANGES, name, RANGE);

export const rangeLabel = (name: RangeName): string => `Last ${RANGES[name].length}`;
