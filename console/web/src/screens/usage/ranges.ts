import { USAGE_RANGE, USAGE_RANGES, type UsageRangeName } from "@brand-records/console-contract/time-ranges";
import { nameIn } from "../../parts/time-ranges.ts";

export const rangeNamed = (name: string | undefined): UsageRangeName => nameIn(USAGE_RANGES, name, USAGE_RANGE);
