import { CallLimit } from "./call-limits.ts";

it("refuses the calls beyond the limit of a caller's minute, and no one else's", () => {
  const limit = new CallLimit(2);
  limit.spend("a", 0);
  expect(limit.isUsedUp("a", 0)).toBe(false);
  limit.spend("a", 1_000);
  expect(() => limit.spend("a", 20_500)).toThrow(expect.objectContaining({ kind: "rate_limited", retryAfterSeconds: 40 }));
  limit.spend("b", 20_500);
  expect(["a", "b", "c"].map((caller) => limit.isUsedUp(caller, 20_500))).toEqual([true, false, false]);
  expect(limit.isUsedUp("a", 60_000)).toBe(false);
  limit.spend("a", 60_000);
});
