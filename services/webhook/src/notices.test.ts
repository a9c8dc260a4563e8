import { openLog } from "@brand-records/telemetry";
import { useSending } from "../test/serve-sending.ts";
import { noteDisabled, noteLongPauses, writeDisabled } from "./notices.ts";
import { disableReceiver } from "./storage/receivers.ts";

const sending = useSending();
let lines: object[];
const log = Object.assign(openLog("webhook", "silent"), { warn: (fields: object) => void lines.push(fields) });
beforeEach(() => void (lines = []));

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
  const make = async (columns: string): Promise<string> => {
    const { id } = await sending.createReceiver("https://receiver.example/hook");
    await sending.db.query(`update webhook.lanes set ${columns} where receiver_id = $1`, [id]);
    return id;
  };
  const paused = await make("trips = 3, first_failure_at = now() - interval '61 minutes'");
  await make("trips = 3, first_failure_at = now() - interval '59 minutes'");
  await make("trips = 0, first_failure_at = now() - interval '2 hours'");
  await make("trips = 3, first_failure_at = now() - interval '2 hours', held = true");
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
});
