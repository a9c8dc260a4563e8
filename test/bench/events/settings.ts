import { sized } from "../size.ts";

/** Measured in turn, so that what else the machine does hits all alike; the median counts. */
export const ROUNDS = sized(3, 1);
/** Messages of a round: ten seconds' worth of the target. */
export const MESSAGES = sized(50_000, 2_000);
/** Different records, hence keys. */
export const RECORDS = sized(5_000, 500);
/** As the product has them by default. */
export const PARTITIONS = 12;
/** What the relay publishes at once, and what the intake takes in at once: the bare loop does the same. */
export const PUBLISH_BATCH = 1_000;
export const TARGET_PER_SECOND = 5_000;
