import fc from "fast-check";
import { Shuffle } from "./random.ts";

describe("Shuffle", () => {
  it("gives every number a rank of its own, and finds the number by its rank", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3_000 }), fc.nat(), (size, stream) => {
        const shuffle = new Shuffle(size, stream);
        const ranks = Array.from({ length: size }, (_, index) => shuffle.rankOf(index));
        expect(new Set(ranks).size).toBe(size);
        expect(Math.max(...ranks)).toBe(size - 1);
        expect(ranks.map((rank) => shuffle.indexAt(rank))).toEqual(ranks.map((_, index) => index));
      }),
    );
  });

  it("works on a billion numbers in constant memory", () => {
    const shuffle = new Shuffle(32 ** 6, 7);
    for (const index of [0, 1, 123_456_789, 32 ** 6 - 1]) expect(shuffle.indexAt(shuffle.rankOf(index))).toBe(index);
  });
});
