import { VerificationSlots } from "./verification-slots.ts";

it("keeps slots for keys that were valid lately, and none for one that is valid no more", async () => {
  const slots = new VerificationSlots();
  const end = Promise.withResolvers<void>();
  const madeUp = Array.from({ length: 256 }, (_, i) => slots.hold(`made up ${i}`, () => end.promise));
  expect(slots.isFree("key")).toBe(false);
  slots.reserve("key");
  expect(slots.isFree("key")).toBe(true);
  slots.release("key");
  expect(slots.isFree("key")).toBe(false);
  end.resolve();
  await Promise.all(madeUp);
  expect(slots.isFree("key")).toBe(true);
});

it("frees the slot of a verification that fails", async () => {
  const slots = new VerificationSlots();
  const fail = async (): Promise<void> => {
    throw new Error("unavailable");
  };
  const failures = Array.from({ length: 256 }, (_, i) => slots.hold(`made up ${i}`, fail));
  expect(slots.isFree("key")).toBe(false);
  await Promise.allSettled(failures);
  expect(slots.isFree("key")).toBe(true);
});
