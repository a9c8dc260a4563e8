import fc from "fast-check";
import { RESOURCE_NAMES, type ResourceName } from "@brand-records/resources";
import { decodeCursor, encodeCursor } from "./cursor.ts";

const resource = fc.constantFrom(...RESOURCE_NAMES);
const instant = fc
  .date({ min: new Date(0), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true })
  .map((date) => date.toISOString());
const since = fc.option(instant, { nil: undefined });
const position = fc.record({ created_at: instant, id: fc.stringMatching(/^[a-z]{2,3}_[0-9a-z]{1,40}$/) });

const refused = expect.objectContaining({ kind: "invalid_cursor", field: "cursor" });
const decoding = (...parameters: Parameters<typeof decodeCursor>) => {
  try {
    return decodeCursor(...parameters);
  } catch (error) {
    return error;
  }
};

describe("cursors", () => {
  it("decode to the position they were encoded from", () => {
    fc.assert(
      fc.property(resource, since, position, (resource, since, position) => {
        expect(decodeCursor(encodeCursor(resource, since, position), resource, since)).toEqual(position);
      }),
    );
  });

  it("need no escaping in a URL and stay short", () => {
    fc.assert(
      fc.property(resource, since, position, (resource, since, position) => {
        expect(encodeCursor(resource, since, position)).toMatch(/^[A-Za-z0-9_-]{20,250}$/);
      }),
    );
  });

  it("of another resource are refused", () => {
    fc.assert(
      fc.property(resource, resource, position, (encoded, decoded, position) => {
        fc.pre(encoded !== decoded);
        expect(decoding(encodeCursor(encoded, undefined, position), decoded, undefined)).toEqual(refused);
      }),
    );
  });

  it("of another since are refused", () => {
    fc.assert(
      fc.property(since, since, position, (encoded, decoded, position) => {
        fc.pre(encoded !== decoded);
        expect(decoding(encodeCursor("links", encoded, position), "links", decoded)).toEqual(refused);
      }),
    );
  });

  it("are refused when cut anywhere, or extended", () => {
    fc.assert(
      fc.property(position, fc.nat(), fc.stringMatching(/^[A-Za-z0-9_-]{1,8}$/), (position, cut, more) => {
        const cursor = encodeCursor("payouts", undefined, position);
        expect(decoding(cursor.slice(0, cut % cursor.length), "payouts", undefined)).toEqual(refused);
        expect(decoding(cursor + more, "payouts", undefined)).toEqual(refused);
      }),
    );
  });

  it("are refused without a crash for any other text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string().map(base64url), fc.json().map(base64url), almostCursor()), (text) => {
        expect(decoding(text, "links", undefined)).toEqual(refused);
      }),
      { numRuns: 500 },
    );
  });
});

const base64url = (text: string): string => Buffer.from(text).toString("base64url");

/** A valid cursor with one wrong field. */
function almostCursor(): fc.Arbitrary<string> {
  const valid: [number, ResourceName, string | null, string, string] = [1, "links", null, "2026-11-21T08:30:00.000Z", "lnk_1"];
  const wrong = fc.oneof(
    fc.integer(),
    fc.constant(null),
    fc.constant("2026-02-30T00:00:00.000Z"),
    fc.constant("lnk_1' or 1=1"),
    fc.object(),
  );
  return fc
    .tuple(fc.nat(4), wrong)
    .filter(([at, value]) => !(at === 2 && value === null) && !(at === 0 && value === 1))
    .map(([at, value]) => base64url(JSON.stringify(valid.with(at, value as never))));
}
