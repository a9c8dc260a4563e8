import { openLog } from "@brand-records/telemetry";
import { serveSending, type ServedSending } from "../test/serve-sending.ts";
import { noteLongPauses } from "./notices.ts";

let sending: ServedSending;
beforeAll(async () => {
  sending = await serveSending();
});
afterAll(() => sending.stop());

it("writes one line with ids alone for each receiver that has been paused for an hour, and another when it is paused again", async () => {
  const lines: object[] = [];
  const log = Object.assign(openLog("webhook", "silent"), { warn: (fields: object) => void lines.push(fields) });
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
