import { eventually } from "@brand-records/testkit";
import { silent } from "../../test/kafka-config.ts";
import type { ReceivedMessage } from "../event-log.ts";
import { JointBatches, type Share } from "./joint-batches.ts";

const messagesOf = (partition: number, count: number): ReceivedMessage[] =>
  Array.from({ length: count }, (_, offset) => ({
    key: `sub_${partition}`,
    value: Buffer.from(`${partition}:${offset}`),
    headers: {},
    position: `t/${partition}@${offset}`,
  }));

const share = (partition: number, count: number, isOurs = (): boolean => true): Share => ({
  messages: messagesOf(partition, count),
  next: { topic: "t", partition, offset: String(count) },
  isOurs,
  heartbeat: async () => {},
});

interface Call {
  readonly positions: readonly string[];
  end(error?: Error): void;
}

/** A joint whose calls of the intake end when a test says so. */
function openJoint(commit = async (): Promise<void> => {}) {
  const calls: Call[] = [];
  const commits: string[] = [];
  const stopping = new AbortController();
  const joint = new JointBatches({
    intake: (messages) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error): void => (error === undefined ? resolve() : reject(error));
        calls.push({ positions: messages.map(({ position }) => position), end });
      }),
    commit: async (offsets) => {
      commits.push(offsets.map(({ partition, offset }) => `${partition}@${offset}`).join(" "));
      await commit();
    },
    onActivity: () => {},
    stopping: stopping.signal,
    log: silent,
  });
  const running = async (count: number): Promise<void> => eventually(() => expect(calls).toHaveLength(count));
  return { joint, calls, commits, stopping, running };
}

it("processes what several partitions have at once in one call, in order, and commits once", async () => {
  const { joint, calls, commits, running } = openJoint();
  const processed = [share(3, 2), share(1, 1)].map((each) => joint.process(each));
  await running(1);
  expect(calls[0]?.positions).toEqual(["t/3@0", "t/3@1", "t/1@0"]);
  expect(commits).toEqual([]);
  calls[0]?.end();
  expect(await Promise.all(processed)).toEqual([true, true]);
  expect(commits).toEqual(["3@2 1@1"]);
});

it("keeps small batches until none runs, and processes a full one beside", async () => {
  const { joint, calls, running } = openJoint();
  const first = joint.process(share(0, 1));
  await running(1);
  const small = [share(1, 30), share(2, 30)].map((each) => joint.process(each));
  const full = [3, 4, 5, 6].map((partition) => joint.process(share(partition, 500)));
  for (const count of [2, 4, 6]) {
    await running(count);
    for (const { end } of calls) end();
  }
  expect(calls.map(({ positions }) => positions.length)).toEqual([1, 60, 500, 500, 500, 500]);
  expect(await Promise.all([first, ...small, ...full])).toEqual(Array.from({ length: 7 }, () => true));
  const last = joint.process(share(7, 1));
  await running(7);
  const [one, two] = [8, 9].map((partition) => joint.process(share(partition, 1)));
  calls.at(-1)?.end();
  await last;
  await running(8);
  expect(calls.at(-1)?.positions).toEqual(["t/8@0", "t/9@0"]);
  calls.at(-1)?.end();
  expect(await Promise.all([one, two])).toEqual([true, true]);
});

it("repeats a call that failed with the partitions that are still this member's, and commits no other", async () => {
  const { joint, calls, commits, running } = openJoint();
  let isOurs = true;
  const [moved, kept] = [joint.process(share(1, 1, () => isOurs)), joint.process(share(2, 1))];
  await running(1);
  isOurs = false;
  calls[0]?.end(new Error("the database is away"));
  await running(2);
  expect(calls[1]?.positions).toEqual(["t/2@0"]);
  calls[1]?.end();
  expect(await Promise.all([moved, kept])).toEqual([false, true]);
  expect(commits).toEqual(["2@1"]);
});

it("repeats each partition of a call that failed alone, and holds up no other meanwhile", async () => {
  const { joint, calls, commits, running } = openJoint();
  const [refused, second] = [1, 2].map((partition) => joint.process(share(partition, 1)));
  await running(1);
  calls[0]?.end(new Error("accounts is away"));
  await running(3);
  const [one, two] = ["t/1@0", "t/2@0"].map((position) => calls.findLast(({ positions }) => positions.join() === position));
  two?.end();
  expect(await second).toBe(true);
  one?.end(new Error("accounts is away"));
  const other = joint.process(share(3, 1));
  await eventually(() => expect(calls.at(-1)?.positions).toEqual(["t/3@0"]));
  calls.at(-1)?.end();
  expect(await other).toBe(true);
  expect(commits).toEqual(["2@1", "3@1"]);
  await eventually(() => expect(calls.at(-1)?.positions).toEqual(["t/1@0"]));
  calls.at(-1)?.end();
  expect(await refused).toBe(true);
});

it("commits nothing of a partition that has moved while its messages were processed", async () => {
  const { joint, calls, commits, running } = openJoint();
  let isOurs = true;
  const [moved, kept] = [joint.process(share(1, 1, () => isOurs)), joint.process(share(2, 1))];
  await running(1);
  isOurs = false;
  calls[0]?.end();
  expect(await Promise.all([moved, kept])).toEqual([false, true]);
  expect(commits).toEqual(["2@1"]);
});

it("repeats nothing after a stop", async () => {
  const { joint, calls, commits, stopping, running } = openJoint();
  const processed = joint.process(share(1, 1));
  await running(1);
  stopping.abort();
  calls[0]?.end(new Error("the database is away"));
  expect(await processed).toBe(false);
  expect([calls.length, commits.length]).toEqual([1, 0]);
});

it("rejects each of a call's partitions if the commit of their offsets fails, and goes on with the next", async () => {
  let failure: Error | undefined = new Error("this member has lost its partitions");
  const { joint, calls, running } = openJoint(async () => {
    if (failure !== undefined) throw failure;
  });
  const processed = [1, 2].map((partition) => joint.process(share(partition, 1)).catch((error: unknown) => error));
  await running(1);
  calls[0]?.end();
  expect(await Promise.all(processed)).toEqual([failure, failure]);
  failure = undefined;
  const next = joint.process(share(3, 1));
  await running(2);
  calls[1]?.end();
  expect(await next).toBe(true);
});
