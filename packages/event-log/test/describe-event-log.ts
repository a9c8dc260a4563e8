import { eventually } from "@brand-records/testkit";
import type { DeadLetters, Intake, LogMessage, Publisher, ReceivedMessage } from "../src/index.ts";

/** An empty log for one test. */
export interface OpenLog {
  readonly publisher: Publisher;
  /** Starts reading. In these tests a log has one reader at a time. */
  read(intake: Intake): Promise<DeadLetters>;
  stop(): Promise<void>;
}

export const message = (key: string, value: string | Buffer, headers: Record<string, string> = {}): LogMessage => ({
  key,
  value: Buffer.from(value),
  headers,
});

const textOf = ({ value }: ReceivedMessage): string => value.toString();

/** The guarantees of every event log, over any adapter. */
export function describeEventLog(name: string, open: () => Promise<OpenLog>): void {
  describe(`an event log, ${name}`, () => {
    let log: OpenLog;
    let received: ReceivedMessage[];
    const receive: Intake = async (messages) => void received.push(...messages);
    beforeEach(async () => {
      received = [];
      log = await open();
    });
    afterEach(() => log.stop());

    it("delivers key, bytes and headers as published, with their position", async () => {
      await log.read(receive);
      const bytes = Buffer.from([0, 255, 10, 13, 0xc3, 0x28]);
      await log.publisher.publish([message("sub_1", bytes, { traceparent: "00-1-2-01", other: "ünï" })]);
      await eventually(() => expect(received).toHaveLength(1));
      expect(received[0]).toMatchObject({ key: "sub_1", headers: { traceparent: "00-1-2-01", other: "ünï" } });
      expect(received[0]?.value.equals(bytes)).toBe(true);
      expect(received[0]?.position).toEqual(expect.stringMatching(/./));
      expect(log.publisher.isReady()).toBe(true);
    });

    it("accepts an empty list, which delivers nothing", async () => {
      await log.read(receive);
      await log.publisher.publish([]);
      await log.publisher.publish([message("sub_1", "after")]);
      await eventually(() => expect(received.map(textOf)).toEqual(["after"]));
    });

    it("keeps the order of each key over many batches published concurrently, and delivers each message once", async () => {
      await log.read(receive);
      const batches = Array.from({ length: 20 }, (_, batch) =>
        Array.from({ length: 250 }, (_, index) => message(`sub_${index % 50}`, String(batch * 250 + index))),
      );
      await Promise.all(batches.map((batch) => log.publisher.publish(batch)));
      await eventually(() => expect(received).toHaveLength(5_000), { timeoutMs: 20_000 });
      const byKey = Map.groupBy(received, ({ key }) => key);
      expect(byKey.size).toBe(50);
      for (const messages of byKey.values()) {
        const numbers = messages.map((each) => Number(textOf(each)));
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
      }
      expect(new Set(received.map(textOf)).size).toBe(5_000);
    });

    it("delivers rejected messages again, before any later message with the same key", async () => {
      let refusals = 0;
      await log.read(async (messages) => {
        if (messages.some((each) => textOf(each) === "2") && refusals < 3) {
          refusals += 1;
          throw new Error("the database is unavailable");
        }
        received.push(...messages);
      });
      const publish = async (text: string): Promise<void> => {
        // The direct log stores nothing: it rejects, and its writer publishes again.
        await eventually(() => log.publisher.publish([message("sub_1", text)]));
      };
      for (const text of ["1", "2", "3"]) await publish(text);
      await eventually(() => expect(received.map(textOf)).toEqual(["1", "2", "3"]));
      expect(refusals).toBe(3);
    });

    it("keeps dead letters with their reason, lists the oldest first, and delivers them again on a replay", async () => {
      let isBroken = true;
      let deadLetters: DeadLetters | undefined;
      deadLetters = await log.read(async (messages) => {
        if (!isBroken) return receive(messages);
        await deadLetters?.put(messages.map((each) => ({ message: each, reason: `cannot read ${textOf(each)}` })));
      });
      await log.publisher.publish([message("sub_1", "a", { traceparent: "00-1-2-01" }), message("sub_1", "b")]);
      await eventually(async () => expect((await deadLetters.list(10)).total).toBe(2));
      const { deadLetters: listed } = await deadLetters.list(1);
      expect(listed).toEqual([
        {
          position: expect.any(String),
          key: "sub_1",
          bytes: 1,
          reason: "cannot read a",
          deadLetteredAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        },
      ]);
      // What is wrong is not corrected yet: they become dead letters again.
      expect(await deadLetters.replay()).toBe(2);
      await eventually(async () => expect((await deadLetters.list(10)).total).toBe(2));
      expect(received).toEqual([]);

      isBroken = false;
      expect(await deadLetters.replay()).toBe(2);
      await eventually(() => expect(received.map(textOf)).toEqual(["a", "b"]));
      expect(received[0]?.headers).toEqual({ traceparent: "00-1-2-01" });
      expect(await deadLetters.list(10)).toEqual({ deadLetters: [], total: 0 });
      expect(await deadLetters.replay()).toBe(0);
    }, 60_000);

    it("removes the dead letters that match for good, keeps all others, and does not replay again what was replayed", async () => {
      let isBroken = true;
      let deadLetters: DeadLetters | undefined;
      deadLetters = await log.read(async (messages) => {
        if (!isBroken) return receive(messages);
        await deadLetters?.put(messages.map((each) => ({ message: each, reason: `cannot read ${textOf(each)}` })));
      });
      const letterOf = async (...texts: string[]): Promise<void> => {
        const { total } = await deadLetters.list(1);
        await log.publisher.publish(texts.map((text) => message("sub_1", text, { traceparent: "00-1-2-01" })));
        await eventually(async () => expect((await deadLetters.list(1)).total).toBe(total + texts.length));
      };
      const reasons = async (): Promise<string[]> => (await deadLetters.list(10)).deadLetters.map(({ reason }) => reason);
      await letterOf("replayed before");
      isBroken = false;
      await deadLetters.replay();
      await eventually(() => expect(received.map(textOf)).toEqual(["replayed before"]));
      isBroken = true;
      await letterOf("a", "b", "a", "c");
      expect(await deadLetters.remove((letter) => textOf(letter) === "x")).toBe(0);
      expect(await deadLetters.remove((letter) => textOf(letter) === "a")).toBe(2);
      expect(await reasons()).toEqual(["cannot read b", "cannot read c"]);
      expect(await deadLetters.remove((letter) => textOf(letter) === "a")).toBe(0);
      isBroken = false;
      expect(await deadLetters.replay()).toBe(2);
      await eventually(() => expect(received.map(textOf)).toEqual(["replayed before", "b", "c"]));
      expect(received[1]?.headers).toEqual({ traceparent: "00-1-2-01" });
    }, 60_000);
  });
}
