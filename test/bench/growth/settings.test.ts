import { DEFAULT_SIZES, readSizes } from "./settings.ts";

/** One promise: a run of bench:growth measures the sizes that its options name. */

it("takes the given sizes, and the defaults for the others", () => {
  expect(readSizes({})).toEqual(DEFAULT_SIZES);
  expect(readSizes({ records: "5000000", "memory-minutes": "0.5" })).toEqual({ ...DEFAULT_SIZES, records: 5_000_000, memoryMinutes: 0.5 });
});

it.each(["", "0", "-1", "1e", "many"])("refuses %j as a size", (finished) => {
  expect(() => readSizes({ finished })).toThrow(`--finished is ${finished}: it must be a positive number`);
});
