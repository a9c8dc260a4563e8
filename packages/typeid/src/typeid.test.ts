import { newId } from "./index.ts";

describe("newId", () => {
  it("encodes as the TypeID specification does", () => {
    // From the specification's valid.json: 0188bac7-4afa-78aa-bc3b-bd1eef28d881.
    const random = Buffer.from("78aabc3bbd1eef28d881", "hex");
    expect(newId("prefix", 0x0188bac74afa, random)).toBe("prefix_01h2xcejqtf2nbrexx3vqjhp41");
  });

  it("sorts by time", () => {
    const ids = [1, 2, 1_000, 1_700_000_000_000, 1_700_000_000_001].map((at) => newId("evt", at));
    expect(ids.toSorted()).toEqual(ids);
  });

  it("does not repeat itself", () => {
    expect(new Set(Array.from({ length: 10_000 }, () => newId("brd", 1))).size).toBe(10_000);
  });
});
