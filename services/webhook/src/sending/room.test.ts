import { Room } from "./room.ts";

it("gives a claim that began earlier no room that first attempts have taken meanwhile, and gives it again once that is free", () => {
  const room = new Room(4, new AbortController().signal);
  const claim = room.forClaim();
  for (const receiver of ["rcv_1", "rcv_2", "rcv_3", "rcv_4"]) room.forFirstAttempts()(receiver, 1);
  expect(room.left).toBe(0);
  expect(claim.take("rcv_5", 2)).toBe(0);
  claim.end();
  room.release(4);
  expect(room.forClaim().take("rcv_5", 2)).toBe(2);
  expect(room.left).toBe(2);
});
