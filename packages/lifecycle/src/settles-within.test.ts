import { settlesWithin } from "./settles-within.ts";

it("is true of work that is over in time, well or badly, and false of work that is not", async () => {
  expect(await settlesWithin(Promise.resolve(), 10_000)).toBe(true);
  expect(await settlesWithin(Promise.reject(new Error("failed")), 10_000)).toBe(true);
  expect(await settlesWithin(new Promise(() => {}), 1)).toBe(false);
});

it("ignores a rejection that comes too late", async () => {
  const late = Promise.withResolvers<void>();
  expect(await settlesWithin(late.promise, 1)).toBe(false);
  late.reject(new Error("too late"));
  expect(await settlesWithin(late.promise, 10_000)).toBe(true);
});
