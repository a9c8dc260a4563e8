/**
 * Options of an LRUCache of so many entries at most that takes memory as it fills. Given `max`, it takes 22 bytes for each possible entry at
 * once, with times 38: 4 MiB in an idle gateway.
 */
export const entriesMax = (count: number) => ({ maxSize: count, sizeCalculation: () => 1 });
