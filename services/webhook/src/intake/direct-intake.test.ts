import type { Intake, ReceivedMessage } from "@brand-records/event-log";
import { callContext } from "../../test/serve-receivers.ts";
import { intakeHandlers } from "./start-intake.ts";

const message = (key: string) => ({ key, value: Buffer.from([0, 255, 10]), headers: { traceparent: "00-1-2-01" } });

describe("PublishMessages", () => {
  it("passes key, bytes and headers to the intake, and nothing for an empty call", async () => {
    const received: ReceivedMessage[] = [];
    const { publishMessages } = intakeHandlers(async (messages) => void received.push(...messages));
    await publishMessages({ messages: [] }, callContext());
    await publishMessages({ messages: [message("sub_1")] }, callContext());
    expect(received).toEqual([{ ...message("sub_1"), position: "direct" }]);
  });

  it("stores simultaneous calls one after another, in their order, and continues after one that failed", async () => {
    const started: string[] = [];
    const stored = new Map<string, PromiseWithResolvers<void>>();
    const intake: Intake = async (messages) => {
      const key = messages[0]?.key ?? "";
      started.push(key);
      await stored.get(key)?.promise;
    };
    const { publishMessages } = intakeHandlers(intake);
    const calls = ["sub_1", "sub_2", "sub_3"].map((key) => {
      stored.set(key, Promise.withResolvers<void>());
      return publishMessages({ messages: [message(key)] }, callContext());
    });
    const outcomes = Promise.allSettled(calls);
    await new Promise(setImmediate);
    expect(started).toEqual(["sub_1"]);
    stored.get("sub_1")?.reject(new Error("no database"));
    await expect(calls[0]).rejects.toThrow("no database");
    await new Promise(setImmediate);
    expect(started).toEqual(["sub_1", "sub_2"]);
    stored.get("sub_2")?.resolve();
    stored.get("sub_3")?.resolve();
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
    expect(started).toEqual(["sub_1", "sub_2", "sub_3"]);
  });
});
