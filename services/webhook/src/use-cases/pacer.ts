/** Keeps intake from storing more than the sender has room for. */
export interface Pacer {
  /** Events to store in one transaction, so that their first attempts find room together. */
  readonly eventsMax: number;
  /**
   * Waits for room while attempts end soon: first attempts cost less than claims. Does not wait for receivers that hang.
   *
   * @param events to store, each with as many deliveries as events have had lately
   * @param until when to go on without room: milliseconds of `performance.now()`
   * @returns gives back what was kept free for the caller
   */
  untilRoom(events: number, until: number): Promise<GiveBack>;
}

/** Call it with the deliveries that the events got; without them if nothing was stored. */
export type GiveBack = (deliveries?: number) => void;
