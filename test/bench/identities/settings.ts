import { sized } from "../size.ts";

/**
 * The variants take turns, in changing order; each round gives one ratio. Many short turns: other work on the machine then affects both
 * alike. With 16 turns of 2 s on a busy machine the interval was 0.76 to 1.25.
 */
export const ROUNDS = sized(120, 1);
export const TURN_MS = sized(250, 100);
export const WARM_UP_MS = sized(3_000, 100);
/** grpc-js is at its best near this many on a connection. */
export const CALLS_IN_FLIGHT = 50;
