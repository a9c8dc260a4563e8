import { VerificationSlots } from "./verification-slots.ts";

it("keeps slots for keys that were recently valid, and none for a key that is no longer valid", async () => {
  const slots = new VerificationSlots();
  const end = Promise.withResolvers<void>();
  const invented = Array.from({ length: 256 }, (_, i) => slots.hold(`invented ${i}`, () => end.promise));
  expect(slots.isFree("key")).toBe(false);
  slots.markProven("key");
  expect(slots.isFree("key")).toBe(true);
  slots.markUnproven("key");
  expect(slots.isFree("key")).toBe(false);
  end.resolve();
  await Promise.all(invented);
  expect(slots.isFree("key")).toBe(true);
});

it("frees the slot of a verification that fails", async () => {
  const slots = new VerificationSlots();
  const fail = async (): Promise<void> => {
    throw new Error("unavailable");
  };
  const failures = Array.from({ length: 256 }, (_, i) => slots.hold(`invented ${i}`, fail));
  expect(slots.isFree("key")).toBe(false);
  await Promise.allSettled(failures);
  expect(slots.isFree("key")).toBe(true);
});
