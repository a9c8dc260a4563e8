import { idPattern, idSequence, newId, timeOfId } from "./index.ts";

describe("newId", () => {
  it("encodes as the TypeID specification does", () => {
    // The specification's valid.json has 0188bac7-4afa-78aa-bc3b-bd1eef28d881.
    const random = Buffer.from("78aabc3bbd1eef28d881", "hex");
    expect(newId("prefix", 0x0188bac74afa, random)).toBe("prefix_01h2xcejqtf2nbrexx3vqjhp41");
  });

  it("sorts by time", () => {
    const ids = [1, 2, 1_000, 1_700_000_000_000, 1_700_000_000_001].map((at) => newId("evt", at));
    expect(ids.toSorted()).toEqual(ids);
  });

  it("never returns the same id twice", () => {
    expect(new Set(Array.from({ length: 10_000 }, () => newId("brd", 1))).size).toBe(10_000);
  });
});

describe("idPattern", () => {
  it.each([newId("sub"), "sub_1", `sub_${"z".repeat(40)}`])("matches %s", (id) => {
    expect(id).toMatch(idPattern("sub"));
  });

  it.each(["sub_", "sub", `sub_${"z".repeat(41)}`, "sub_A", "sub_1\n", "xsub_1", "po_1"])("does not match %j", (id) => {
    expect(id).not.toMatch(idPattern("sub"));
  });
});

describe("idSequence", () => {
  it("returns increasing ids within a millisecond, beyond the end of the counter, and when the clock steps back", () => {
    let now = 1_795_000_000_000;
    const next = idSequence("dlv", () => now);
    const ids = Array.from({ length: 10_000 }, next);
    now -= 60_000;
    ids.push(next(), next());
    now += 120_000;
    ids.push(next());
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(ids.length);
    expect(timeOfId(ids.at(-1) ?? "")).toBe(now);
  });
});

it.each([0, 1, 1_795_000_000_123, 2 ** 48 - 1])("timeOfId returns the creation time: %i", (time) => {
  expect(timeOfId(newId("evt", time))).toBe(time);
});

it.each(["", "evt_", "evt_1", "evt_8zzzzzzzzzzzzzzzzzzzzzzzzz", "evt_01h455vb4pex5vsknk084sn02u"])("timeOfId returns NaN for %j", (id) => {
  expect(timeOfId(id)).toBeNaN();
});
