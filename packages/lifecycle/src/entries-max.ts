/**
 * Options of an LRUCache that holds at most `count` entries and takes memory as it fills. With `max`, it would take 22 bytes for each possible
 * entry from the start, or 38 if entries expire: 4 MiB in an idle gateway.
 */
export const entriesMax = (count: number) => ({ maxSize: count, sizeCalculation: () => 1 });
