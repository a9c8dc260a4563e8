import fc from "fast-check";
import { formatInstant, instantProblem, normalizedTime, parseInstant } from "./index.ts";

describe("parseInstant", () => {
  it("reads what formatInstant writes", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) }), (milliseconds) => {
        expect(parseInstant(formatInstant(milliseconds))).toBe(milliseconds);
      }),
    );
  });

  it.each([
    ["2026-11-21T16:30:00+08:00", "2026-11-21T08:30:00.000Z"],
    ["2026-11-21t08:30:00z", "2026-11-21T08:30:00.000Z"],
    ["2026-11-21T08:30:00-00:00", "2026-11-21T08:30:00.000Z"],
    ["2026-11-21T08:30:00.123456789Z", "2026-11-21T08:30:00.123Z"],
    ["2026-11-21T08:30:00.9Z", "2026-11-21T08:30:00.900Z"],
    ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"],
    ["1950-01-01T00:00:00Z", "1950-01-01T00:00:00.000Z"],
    ["9999-12-31T23:59:59.999-23:59", "+010000-01-01T23:58:59.999Z"],
  ])("reads %s", (text, expected) => {
    expect(formatInstant(parseInstant(text) ?? Number.NaN)).toBe(expected);
  });

  it.each([
    "",
    "2026-11-21",
    "2026-11-21T08:30:00",
    "2026-11-21 08:30:00Z",
    "2026-02-30T00:00:00Z",
    "2023-02-29T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-11-21T24:00:00Z",
    "2026-11-21T08:30:60Z",
    "2026-11-21T08:30:00.1234567890Z",
    "2026-11-21T08:30:00+24:00",
    "2026-11-21T08:30:00+08:60",
    "2026-11-21T08:30:00+0800",
    "1763713800",
    "infinity",
  ])("refuses %j", (text) => {
    expect(parseInstant(text)).toBeUndefined();
  });
});

it.each([
  ["2026-11-01", "in Manila, 2026-11-01 begins at 2026-11-01T00:00:00+08:00"],
  ["2026-11-01T08:30", "in Manila, 2026-11-01T08:30 is 2026-11-01T08:30:00+08:00"],
  ["2026-11-01T08:30:00.5", "in Manila, 2026-11-01T08:30:00.5 is 2026-11-01T08:30:00.5+08:00"],
  ["2026-11-01 08:30", "in Manila, 2026-11-01 08:30 is 2026-11-01T08:30:00+08:00"],
])("corrects %s to a time of Manila", (text, correction) => {
  expect(instantProblem(text)).toBe(`must be an RFC 3339 time with an offset: ${correction}`);
});

it.each(["", "yesterday", "2026-02-30", "2026-11", "2026-11-01T25:00:00", "1764547200", "2026-11-01  08:30"])(
  "says the form for %p",
  (text) => {
    expect(instantProblem(text)).toBe("must be an RFC 3339 time with an offset, such as 2026-11-21T08:30:00+08:00");
  },
);

it.each([
  ["2026-11-01 08:30:00+08:00", "2026-11-01T08:30:00+08:00"],
  ["2026-11-01T08:30:00.123456789+0800", "2026-11-01T08:30:00.123456789+08:00"],
  ["2026-11-01 00:30:00Z", "2026-11-01T00:30:00Z"],
  // Anything else is refused as it is.
  ...["2026-11-01 08:30:00", "2026-11-01 08:30:00 +0800", "2026-11-01T08:30:00+08", "2026-11-01  08:30:00Z", "20261101T083000Z"].map(
    (text) => [text, text],
  ),
])("reads %j of a query as %j", (text, normalized) => {
  expect(normalizedTime(text)).toBe(normalized);
});
