import type { CallContext } from "@brand-records/rpc";
import { callContext } from "../../test/serve-records.ts";
import { brandTurns } from "./list-records.ts";

const calledBy = (call: { cancelled: boolean }): CallContext => ({ ...callContext(), parent: call as NonNullable<CallContext["parent"]> });

it("does not begin work whose caller has gone while it waited", async () => {
  const inTurn = brandTurns(2);
  const first = Promise.withResolvers<string>();
  const running = inTurn("brd_1", callContext(), () => first.promise);
  const call = { cancelled: false };
  const work = jest.fn(async () => "late");
  const waiting = inTurn("brd_1", calledBy(call), work);
  call.cancelled = true;
  first.resolve("done");
  await expect(running).resolves.toBe("done");
  await expect(waiting).rejects.toMatchObject({ kind: "request_timeout" });
  expect(work).not.toHaveBeenCalled();
});
