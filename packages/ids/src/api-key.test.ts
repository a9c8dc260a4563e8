import fc from "fast-check";
import { generateKey, KEY_PATTERN, keyEnvironment, keyHint } from "./api-key.ts";

describe("API keys", () => {
  it.each(["live", "test"] as const)("have the environment %s they are generated for", (environment) => {
    const key = generateKey(environment);
    expect(key).toMatch(KEY_PATTERN);
    expect(keyEnvironment(key)).toBe(environment);
  });

  it("are invalid with a single wrong character anywhere", () => {
    fc.assert(
      fc.property(fc.nat(44), fc.constantFrom(..."0Az_ "), (at, character) => {
        const key = generateKey("live");
        fc.pre(key[at] !== character);
        expect(keyEnvironment(key.slice(0, at) + character + key.slice(at + 1))).toBeUndefined();
      }),
    );
  });

  it("are invalid if cut, with a line break, in another case or with another environment", () => {
    const key = generateKey("live");
    for (const wrong of ["", key.slice(0, -1), `${key}\n`, ` ${key}`, key.toUpperCase(), key.replace("live", "test"), `${key}0`]) {
      expect(keyEnvironment(wrong)).toBeUndefined();
    }
  });

  it("have a hint of the prefix and the last four characters", () => {
    const key = generateKey("test");
    expect(keyHint(key)).toBe(`brk_test_…${key.slice(-4)}`);
  });
});
