import { openLog } from "@brand-records/telemetry";
import { resultOf } from "../test/attempt-result.ts";
import { useSending } from "../test/serve-sending.ts";
import { noteDisabled, noteLongPauses, writeDisabled } from "./notices.ts";
import { claimDeliveries, type ClaimedDelivery } from "./storage/claims.ts";
import { forgetFailures } from "./storage/lanes.ts";
import { disableReceiver } from "./storage/receivers.ts";
import { writeResults } from "./use-cases/write-results.ts";

const sending = useSending();
let lines: object[];
const log = Object.assign(openLog("webhook", "silent"), { warn: (fields: object) => void lines.push(fields) });
beforeEach(() => void (lines = []));

/** What is on its way to owners' mail. */
const noticesOf = async (receiverId: string): Promise<string[]> => {
  const statement = "select entry->>'action' as action from webhook.audit_outbox where entry->>'subject_id' = $1 order by seq";
  return (await sending.db.query<{ action: string }>(statement, [receiverId])).map(({ action }) => action);
};

it("writes the line of each receiver that the service has disabled in the last day, which its process may have left out", async () => {
  const disabled = async (reason: "gone" | "failing" | "member"): Promise<{ id: string; brand: string; at: string }> => {
    const { id, brand } = await sending.createReceiver("https://receiver.example/hook");
    return { id, brand, at: (await disableReceiver(sending.db, id, reason)) ?? "" };
  };
  const gone = await disabled("gone");
  await disabled("member");
  const longAgo = await disabled("failing");
  await sending.db.query("update webhook.receivers set disabled_at = now() - interval '25 hours' where id = $1", [longAgo.id]);
  const note = noteDisabled(sending.db, log);
  await note();
  await note();
  const line = {
    notice: "receiver.disabled",
    notice_id: `${gone.id} ${gone.at}`,
    brand_id: gone.brand,
    receiver_id: gone.id,
    reason: "gone",
  };
  expect(lines).toEqual([line]);
  // The line of the process that has disabled it has the same id.
  writeDisabled(log, { receiver_id: gone.id, brand_id: gone.brand, reason: "gone", disabled_at: gone.at });
  expect(lines).toEqual([line, line]);
  const failing = await disabled("failing");
  await note();
  expect(lines.slice(2)).toMatchObject([{ receiver_id: failing.id, reason: "failing" }]);
});

it("writes one line with ids alone for each receiver that has been paused for an hour, and another when it is paused again", async () => {
  const make = async (columns: string, openUntil = "now() - interval '20 seconds'"): Promise<string> => {
    const { id } = await sending.createReceiver("https://receiver.example/hook");
    await sending.db.query(`update webhook.lanes set ${columns}, open_until = ${openUntil} where receiver_id = $1`, [id]);
    return id;
  };
  const paused = await make("trips = 3, first_failure_at = now() - interval '61 minutes'");
  await make("trips = 3, first_failure_at = now() - interval '59 minutes'");
  await make("trips = 0, first_failure_at = now() - interval '2 hours'");
  await make("trips = 3, first_failure_at = now() - interval '2 hours', held = true");
  // Nothing waits for it.
  await make("trips = 3, first_failure_at = now() - interval '2 hours'", "now() - interval '11 minutes'");
  const note = noteLongPauses(sending.db, log);
  await note();
  await note();
  const since = expect.stringMatching(/^\d{4}-.*Z$/) as string;
  expect(lines).toEqual([
    {
      notice: "receiver.paused",
      notice_id: expect.stringMatching(`^${paused} \\d{4}-`) as string,
      brand_id: expect.stringMatching(/^brd_/) as string,
      receiver_id: paused,
      failing_since: since,
    },
  ]);
  await sending.db.query("update webhook.lanes set first_failure_at = now() - interval '70 minutes' where receiver_id = $1", [paused]);
  await note();
  expect(lines).toHaveLength(2);
  // Neither another process, nor this one after a restart, queues mail of a pause again, however long ago the first was.
  await sending.db.query("delete from webhook.audit_outbox");
  await noteLongPauses(sending.db, log)();
  expect([lines.length, await noticesOf(paused)]).toEqual([3, []]);
});

it("queues mail of a receiver that works again, if there was mail of its pause, and of one that the service disables, each once", async () => {
  const receiver = await sending.createReceiver("http://127.0.0.1:1/");
  const short = await sending.createReceiver("http://127.0.0.1:1/");
  const claimed: ClaimedDelivery[] = [];
  for (const each of [receiver, short]) {
    await sending.deliver([each], 4);
    claimed.push(...(await claimDeliveries(sending.db, { max: 10, leaseSeconds: 60, failing: true })));
  }
  const failing = (interval: string, id: string) =>
    sending.db.query(
      `update webhook.lanes set trips = 3, open_until = now() + interval '5 minutes', first_failure_at = now() - interval '${interval}'
        where receiver_id = $1`,
      [id],
    );
  await failing("61 minutes", receiver.id);
  await failing("59 minutes", short.id);
  await noteLongPauses(sending.db, log)();
  const write = async (id: string, outcome: object = {}): Promise<void> => {
    const at = claimed.findIndex(({ receiver_id }) => receiver_id === id);
    const [delivery] = at < 0 ? [] : claimed.splice(at, 1);
    if (delivery === undefined) throw new Error("expected a claimed delivery");
    await writeResults(sending.db, [resultOf(delivery, outcome)], Date.now(), log);
  };
  const refused = { outcome: "refused", http_status: 500, state: "failed" };
  await write(receiver.id, refused);
  expect(await noticesOf(receiver.id)).toEqual(["notice.receiver_paused"]);
  // As a change of the URL does.
  await forgetFailures(sending.db, receiver.id);
  for (const { id } of [receiver, receiver, short]) await write(id);
  expect(await noticesOf(receiver.id)).toEqual(["notice.receiver_paused", "notice.receiver_works"]);
  await write(receiver.id, { ...refused, http_status: 410 });
  expect(await noticesOf(receiver.id)).toEqual(["notice.receiver_paused", "notice.receiver_works", "notice.receiver_gone"]);
  // It recovers while it is being noted.
  await failing("61 minutes", short.id);
  const query: typeof sending.db.query = async (statement, values) => {
    const found = await sending.db.query(statement, values);
    await write(short.id);
    return found as never;
  };
  await noteLongPauses({ ...sending.db, query }, log)();
  expect(await noticesOf(short.id)).toEqual([]);
});
