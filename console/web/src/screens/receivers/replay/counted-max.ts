/** Up to where the service counts the events of a replay: failed ones need a look at each event's deliveries. */
export const countedMax = (failedOnly: boolean): number => (failedOnly ? 10_000 : 100_000);
