import { preferredCoding } from "./content-coding.ts";

it.each([
  ["no header", undefined, "identity"],
  ["an empty header", "", "identity"],
  ["the header of browsers", "gzip, deflate, br, zstd", "br"],
  ["gzip alone", "gzip", "gzip"],
  ["other cases and spaces", " GZIP ; Q=1.0 ", "gzip"],
  ["unknown codings only", "deflate, zstd", "identity"],
  ["anything", "*", "br"],
  ["anything but br", "*, br;q=0", "gzip"],
  ["a preference against our order", "br;q=0.5, gzip;q=0.9", "gzip"],
  ["identity before the others", "identity, gzip;q=0.5", "identity"],
  ["identity after the others", "identity;q=0.5, gzip", "gzip"],
  ["gzip excluded", "gzip;q=0", "identity"],
  ["gzip excluded with decimals", "gzip;q=0.000, br;q=0.001", "br"],
  ["everything excluded but gzip", "*;q=0, gzip", "gzip"],
  ["identity excluded", "identity;q=0, gzip", "gzip"],
  ["identity excluded and nothing else listed", "identity;q=0", "identity"],
  ["everything excluded", "*;q=0", "identity"],
  ["an invalid weight", "br;q=2, gzip", "gzip"],
  ["empty entries", ", ,gzip,,", "gzip"],
])("for %s (%j) it is %s", (_, accepted, coding) => {
  expect(preferredCoding(accepted)).toBe(coding);
});
