import { FAILED_RANGE, TIME_RANGES, type FailedRangeName } from "@brand-records/console-contract/time-ranges";
import { nameIn } from "../../parts/time-ranges.ts";

export const rangeNamed = (name: string | undefined): FailedRangeName => nameIn(TIME_RANGES, name, FAILED_RANGE);

export const rangeLabel = (name: FailedRangeName): string => `Last ${TIME_RANGES[name].length}`;
