import fc from "fast-check";
import { CURSOR_FORM, EARLIEST_INSTANT, FILTER_NAMES, RESOURCE_NAMES, type Filters, type ResourceName } from "@brand-records/resources";
import { decodeCursor, encodeCursor, type CursorScope } from "./cursor.ts";

const resource = fc.constantFrom(...RESOURCE_NAMES);
const instant = fc
  .date({ min: new Date(EARLIEST_INSTANT), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true })
  .map((date) => date.toISOString());
const since = fc.option(instant, { nil: undefined });
const id = fc.stringMatching(/^[a-z]{2,3}_[0-9a-z]{1,40}$/);
const position = fc.record({ created_at: instant, id });
const filters: fc.Arbitrary<Filters> = fc.record(
  {
    id,
    campaign_id: id,
    link_id: id,
    creator_id: id,
    // The longest in JSON: each character takes six.
    external_id: fc.oneof(fc.string({ minLength: 1, maxLength: 40 }), fc.constant("\u0001".repeat(200))),
    status: fc.constantFrom("pending", "pending_funding"),
    created_from: instant,
    created_before: instant,
  },
  { requiredKeys: [] },
);
const scope: fc.Arbitrary<CursorScope> = fc.record({ resource, since, filters });

const refused = expect.objectContaining({ kind: "invalid_cursor", field: "cursor" });
const LINKS: CursorScope = { resource: "links", since: undefined, filters: {} };
const decoding = (...parameters: Parameters<typeof decodeCursor>) => {
  try {
    return decodeCursor(...parameters);
  } catch (error) {
    return error;
  }
};

describe("cursors", () => {
  it("decode to the position they were encoded from, need no escaping in a URL, and have the declared form", () => {
    fc.assert(
      fc.property(scope, position, (scope, position) => {
        const cursor = encodeCursor(scope, position);
        expect(decodeCursor(cursor, scope)).toEqual(position);
        expect(cursor).toMatch(new RegExp(CURSOR_FORM.pattern));
        expect(cursor.length).toBeGreaterThanOrEqual(CURSOR_FORM.minLength);
        expect(cursor.length).toBeLessThanOrEqual(CURSOR_FORM.maxLength);
      }),
    );
  });

  it("have another version with filters", () => {
    const position = { created_at: "2026-11-21T08:30:00.000Z", id: "lnk_1" };
    const firstOf = (filters: Filters): unknown => (JSON.parse(atob(encodeCursor({ ...LINKS, filters }, position))) as unknown[])[0];
    expect(encodeCursor(LINKS, position)).toBe("WzEsImxpbmtzIixudWxsLCIyMDI2LTExLTIxVDA4OjMwOjAwLjAwMFoiLCJsbmtfMSJd");
    expect(firstOf({})).toBe(1);
    expect(firstOf({ status: "active" })).toBe(2);
  });

  it("of another resource or another since are refused", () => {
    fc.assert(
      fc.property(scope, resource, since, position, (scope, resource, since, position) => {
        fc.pre(scope.resource !== resource && scope.since !== since);
        const cursor = encodeCursor(scope, position);
        for (const other of [{ resource }, { since }]) expect(decoding(cursor, { ...scope, ...other })).toEqual(refused);
      }),
    );
  });

  it("of other filters are refused", () => {
    fc.assert(
      fc.property(scope, filters, position, (scope, other, position) => {
        fc.pre(FILTER_NAMES.some((name) => scope.filters[name] !== other[name]));
        expect(decoding(encodeCursor(scope, position), { ...scope, filters: other })).toEqual(refused);
      }),
    );
    const status: CursorScope = { ...LINKS, filters: { status: "active" } };
    const cursor = encodeCursor(status, { created_at: "2026-11-21T08:30:00.000Z", id: "lnk_1" });
    expect(decoding(cursor, { ...LINKS, filters: { status: "paused", campaign_id: "cmp_1" } })).toHaveProperty(
      "message",
      expect.stringContaining("other filters (campaign_id, status)"),
    );
  });

  it("are refused when cut anywhere, extended, or any other text, without a crash", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string().map(base64url), fc.json().map(base64url), almostCursor()), (text) => {
        expect(decoding(text, LINKS)).toEqual(refused);
      }),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(scope, position, fc.nat(), fc.stringMatching(/^[A-Za-z0-9_-]{1,8}$/), (scope, position, cut, more) => {
        const cursor = encodeCursor(scope, position);
        for (const changed of [cursor.slice(0, cut % cursor.length), cursor + more]) expect(decoding(changed, scope)).toEqual(refused);
      }),
    );
  });

  it.each(["0000-01-01T00:00:00.000Z", "0001-01-01T00:00:00.000Z", "1999-12-31T23:59:59.999Z"])(
    "are refused with %s, a time that no record has, as the position",
    (created_at) => {
      for (const since of [null, "0000-01-01T00:00:00.000Z"]) {
        const scope = { ...LINKS, since: since ?? undefined };
        expect(decoding(base64url(JSON.stringify([1, "links", since, created_at, "lnk_1"])), scope)).toEqual(refused);
        const filters = { status: "active" };
        expect(decoding(base64url(JSON.stringify([2, "links", since, filters, created_at, "lnk_1"])), { ...scope, filters })).toEqual(
          refused,
        );
      }
    },
  );

  it.each([null, [], {}, 3, "status", { status: 1 }, { nothing: "x" }, { status: "active", id: "lnk_1" }])(
    "are refused with %j in the place of filters",
    (filters) => {
      const cursor = base64url(JSON.stringify([2, "links", null, filters, "2026-11-21T08:30:00.000Z", "lnk_1"]));
      expect(decoding(cursor, LINKS)).toEqual(refused);
      expect(decoding(cursor, { ...LINKS, filters: { status: "active", id: "lnk_1" } })).toEqual(refused);
    },
  );
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
