import { sized } from "../harness/size.ts";

/** The variants take turns, so that other load on the machine affects all alike; the median counts. */
export const ROUNDS = sized(3, 1);
/** Events a round: ten seconds at the target rate. */
export const MESSAGES = sized(50_000, 2_000);
/** Number of different records, which are the keys. */
export const RECORDS = sized(5_000, 500);
/** The product's default. */
export const PARTITIONS = 12;
/** Batch size of the relay and the intake; the bare loop uses the same. */
export const PUBLISH_BATCH = 1_000;
export const TARGET_PER_SECOND = 5_000;
