import { generateKey, keyDigest } from "@brand-records/ids";
import { keyDigestFrom } from "./authorization-header.ts";

const key = generateKey("live");

it("yields the digest of the key in the header, whatever the header's case", () => {
  expect(keyDigestFrom(["Host", "x", "AUTHORIZATION", `Bearer ${key}`], "live")).toEqual(keyDigest(key));
});

it.each([
  ["missing_key", ["X-Authorization", `Bearer ${key}`]],
  // The name of a header in the place of a value.
  ["missing_key", ["X-Header", "authorization"]],
  ["invalid_key", ["Authorization", `Bearer  ${key}`]],
  ["invalid_key", ["Authorization", `Bearer ${key} `]],
])("fails with %s for %j", (kind, rawHeaders) => {
  expect(() => keyDigestFrom(rawHeaders, "live")).toThrow(expect.objectContaining({ kind }));
});
