import { generateKey, keyDigest } from "@brand-records/ids";
import { keyDigestFrom } from "./authorization-header.ts";

const key = generateKey("live");
const kindOf = (...rawHeaders: string[]): string => {
  try {
    keyDigestFrom(rawHeaders, "live");
    return "accepted";
  } catch (error) {
    return (error as { kind: string }).kind;
  }
};

describe("the Authorization header", () => {
  it("yields the digest of its key", () => {
    expect(keyDigestFrom(["Host", "x", "AUTHORIZATION", `Bearer ${key}`], "live")).toEqual(keyDigest(key));
  });

  it.each([
    ["missing_key", []],
    ["missing_key", ["Authorization", ""]],
    ["missing_key", ["Authorization", `bearer ${key}`]],
    ["missing_key", ["Authorization", `Basic ${key}`]],
    ["missing_key", ["Authorization", key]],
    ["missing_key", ["X-Authorization", `Bearer ${key}`]],
    // The name of a header in the place of a value.
    ["missing_key", ["X-Header", "authorization"]],
    ["invalid_key", ["Authorization", "Bearer "]],
    ["invalid_key", ["Authorization", `Bearer  ${key}`]],
    ["invalid_key", ["Authorization", `Bearer ${key} `]],
    ["invalid_key", ["Authorization", `Bearer ${key.slice(0, -1)}`]],
    ["invalid_key", ["Authorization", `Bearer ${generateKey("test")}`]],
    ["invalid_key", ["Authorization", `Bearer ${key}`, "authorization", `Bearer ${key}`]],
  ])("fails with %s for %j", (kind, rawHeaders) => {
    expect(kindOf(...rawHeaders)).toBe(kind);
  });
});
