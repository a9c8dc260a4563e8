import { eventually } from "@brand-records/testkit";
import { silent } from "../../test/kafka-config.ts";
import { UnprocessedMessages, type ReceivedMessage } from "../event-log.ts";
import { JointBatches, type Portion } from "./joint-batches.ts";

const messagesOf = (partition: number, count: number): ReceivedMessage[] =>
  Array.from({ length: count }, (_, offset) => ({
    key: `sub_${partition}`,
    value: Buffer.from(`${partition}:${offset}`),
    headers: {},
    position: `t/${partition}@${offset}`,
  }));

/** What kafkajs does with a partition, in order: "resolved", "paused" and "resumed", each with its number. */
let steps: string[];
beforeEach(() => void (steps = []));

const portion = (partition: number, count: number, isOurs = (): boolean => true): Portion => ({
  messages: messagesOf(partition, count),
  next: { topic: "t", partition, offset: String(count) },
  isOurs,
  heartbeat: async () => {},
  resolve: () => void steps.push(`${partition} resolved`),
  pause: () => {
    steps.push(`${partition} paused`);
    return () => void steps.push(`${partition} resumed`);
  },
});

interface Call {
  readonly positions: readonly string[];
  end(error?: Error): void;
}

/** A joint whose calls of the intake end when a test says so. */
function openJoint(commit = async (): Promise<void> => {}) {
  const calls: Call[] = [];
  const commits: string[] = [];
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
    log: silent,
  });
  const running = async (count: number): Promise<void> => eventually(() => expect(calls).toHaveLength(count));
  return { joint, calls, commits, running };
}

it("processes what several partitions have at once in one call, in order, and commits once", async () => {
  const { joint, calls, commits, running } = openJoint();
  const processed = [portion(3, 2), portion(1, 1)].map((each) => joint.process(each));
  await running(1);
  expect(calls[0]?.positions).toEqual(["t/3@0", "t/3@1", "t/1@0"]);
  expect(commits).toEqual([]);
  calls[0]?.end();
  expect(await Promise.all(processed)).toEqual([true, true]);
  expect(steps).toEqual(["3 resolved", "1 resolved"]);
  await eventually(() => expect(commits).toEqual(["3@2 1@1"]));
});

it("keeps small batches until none runs, and processes a full one beside", async () => {
  const { joint, calls, running } = openJoint();
  const first = joint.process(portion(0, 1));
  await running(1);
  const small = [portion(1, 30), portion(2, 30)].map((each) => joint.process(each));
  const full = [3, 4, 5, 6].map((partition) => joint.process(portion(partition, 500)));
  for (const count of [2, 4, 6]) {
    await running(count);
    for (const { end } of calls) end();
  }
  expect(calls.map(({ positions }) => positions.length)).toEqual([1, 60, 500, 500, 500, 500]);
  expect(await Promise.all([first, ...small, ...full])).toEqual(Array.from({ length: 7 }, () => true));
  const last = joint.process(portion(7, 1));
  await running(7);
  const [one, two] = [8, 9].map((partition) => joint.process(portion(partition, 1)));
  calls.at(-1)?.end();
  await last;
  await running(8);
  expect(calls.at(-1)?.positions).toEqual(["t/8@0", "t/9@0"]);
  calls.at(-1)?.end();
  expect(await Promise.all([one, two])).toEqual([true, true]);
});

it("repeats a call that failed for the partitions that are still this member's, paused meanwhile, and commits no other", async () => {
  const { joint, calls, commits, running } = openJoint();
  let isOurs = true;
  const processed = [portion(1, 1, () => isOurs), portion(2, 1)].map((each) => joint.process(each));
  await running(1);
  isOurs = false;
  calls[0]?.end(new Error("the database is away"));
  // kafkajs fetches the other partitions again.
  expect(await Promise.all(processed)).toEqual([false, false]);
  expect(steps).toEqual(["2 paused"]);
  await running(2);
  expect(calls[1]?.positions).toEqual(["t/2@0"]);
  calls[1]?.end();
  await eventually(() => expect(steps.slice(1)).toEqual(["2 resolved", "2 resumed"]));
  await eventually(() => expect(commits).toEqual(["2@1"]));
});

it("repeats each partition of a call that failed alone, and holds up no other meanwhile", async () => {
  const { joint, calls, commits, running } = openJoint();
  for (const partition of [1, 2]) void joint.process(portion(partition, 1));
  await running(1);
  calls[0]?.end(new Error("accounts is away"));
  await running(3);
  const [one, two] = ["t/1@0", "t/2@0"].map((position) => calls.findLast(({ positions }) => positions.join() === position));
  two?.end();
  await eventually(() => expect(steps).toContain("2 resumed"));
  one?.end(new Error("accounts is away"));
  const other = joint.process(portion(3, 1));
  await eventually(() => expect(calls.at(-1)?.positions).toEqual(["t/3@0"]));
  calls.at(-1)?.end();
  expect(await other).toBe(true);
  await eventually(() => expect(commits.join(" ")).toBe("2@1 3@1"));
  expect(steps).not.toContain("1 resumed");
  await eventually(() => expect(calls.at(-1)?.positions).toEqual(["t/1@0"]));
  calls.at(-1)?.end();
  await eventually(() => expect(steps.slice(-2)).toEqual(["1 resolved", "1 resumed"]));
});

it("commits the partitions of a call that was processed but for some messages, and repeats these alone", async () => {
  const { joint, calls, commits, running } = openJoint();
  const [held, other] = [portion(1, 3), portion(2, 2)];
  const processed = [held, other].map((each) => joint.process(each));
  await running(1);
  calls[0]?.end(new UnprocessedMessages(held.messages.slice(1, 2), new Error("accounts is away")));
  expect(await Promise.all(processed)).toEqual([false, true]);
  expect(steps).toEqual(["2 resolved", "1 paused"]);
  await running(2);
  expect(calls[1]?.positions).toEqual(["t/1@1"]);
  calls[1]?.end();
  await eventually(() => expect(steps.slice(2)).toEqual(["1 resolved", "1 resumed"]));
  await eventually(() => expect(commits.join(" ")).toBe("2@2 1@3"));
});

it("leaves a partition that has come back and failed again paused until its later messages are processed", async () => {
  const { joint, calls, running } = openJoint();
  let isOurs = true;
  const first = joint.process(portion(1, 1, () => isOurs));
  await running(1);
  calls[0]?.end(new Error("the database is away"));
  expect(await first).toBe(false);
  await running(2);
  isOurs = false;
  const second = joint.process(portion(1, 2));
  await running(3);
  calls[2]?.end(new Error("the database is away"));
  expect(await second).toBe(false);
  calls[1]?.end();
  await running(4);
  expect(steps).toEqual(["1 paused", "1 paused"]);
  calls[3]?.end();
  await eventually(() => expect(steps.slice(2)).toEqual(["1 resolved", "1 resumed"]));
});

it("commits nothing of a partition that has moved while its messages were processed", async () => {
  const { joint, calls, commits, running } = openJoint();
  let isOurs = true;
  const [moved, kept] = [joint.process(portion(1, 1, () => isOurs)), joint.process(portion(2, 1))];
  await running(1);
  isOurs = false;
  calls[0]?.end();
  expect(await Promise.all([moved, kept])).toEqual([false, true]);
  await eventually(() => expect(commits).toEqual(["2@1"]));
});

it("repeats nothing after a stop, which waits for what is being repeated", async () => {
  const { joint, calls, commits, running } = openJoint();
  const processed = joint.process(portion(1, 1));
  await running(1);
  calls[0]?.end(new Error("the database is away"));
  expect(await processed).toBe(false);
  await running(2);
  let isStopped = false;
  const stopped = joint.stop().then(() => (isStopped = true));
  expect(await joint.process(portion(2, 1))).toBe(false);
  // It is not fetched again and again until the consumer stops.
  expect(steps).toEqual(["1 paused", "2 paused"]);
  expect(isStopped).toBe(false);
  calls[1]?.end(new Error("the database is away"));
  await stopped;
  expect([calls.length, commits.length]).toEqual([2, 0]);
});

it("commits the last offset of each partition, and none of a partition that has moved since", async () => {
  const committed = Promise.withResolvers<void>();
  const { joint, calls, commits, running } = openJoint(() => committed.promise);
  let isOurs = true;
  const process = async (each: Portion): Promise<void> => {
    const processed = joint.process(each);
    await running(calls.length + 1);
    calls.at(-1)?.end();
    expect(await processed).toBe(true);
  };
  // Offsets gather while one is committed, however long the others take.
  await process(portion(3, 1));
  await eventually(() => expect(commits).toEqual(["3@1"]));
  await process(portion(1, 1));
  await process(portion(2, 1, () => isOurs));
  await process(portion(1, 3));
  isOurs = false;
  committed.resolve();
  await joint.stop();
  expect(commits.slice(1)).toEqual(["1@3"]);
});

it("tries a commit again that failed, and rejects one portion with it meanwhile, so that kafkajs hears of it", async () => {
  const failure = new Error("this member has lost its partitions");
  let isRefused = true;
  let done = 0;
  const { joint, calls, commits, running } = openJoint(async () => {
    if (isRefused) throw failure;
    done += 1;
  });
  const processed = joint.process(portion(1, 1));
  await running(1);
  calls[0]?.end();
  expect(await processed).toBe(true);
  await eventually(() => expect(commits).toEqual(["1@1"]));
  await expect(joint.process(portion(2, 1))).rejects.toBe(failure);
  isRefused = false;
  await eventually(() => expect(done).toBe(1));
  expect(commits.at(-1)).toBe("1@1");
});

it("rejects nothing with the failure of a commit from before another join of the group", async () => {
  let isOurs = true;
  const { joint, calls, commits, running } = openJoint(async () => {
    if (isOurs) throw new Error("this member's generation is over");
  });
  const processed = joint.process(portion(1, 1, () => isOurs));
  await running(1);
  calls[0]?.end();
  expect(await processed).toBe(true);
  await eventually(() => expect(commits).toEqual(["1@1"]));
  isOurs = false;
  const next = joint.process(portion(2, 1));
  await running(2);
  calls[1]?.end();
  expect(await next).toBe(true);
  await eventually(() => expect(commits).toEqual(["1@1", "2@1"]));
});
