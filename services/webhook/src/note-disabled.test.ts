import { openLog } from "@brand-records/telemetry";
import { serveSending, type ServedSending } from "../test/serve-sending.ts";
import { noteDisabled, writeDisabled } from "./notices.ts";
import { disableReceiver } from "./storage/receivers.ts";

let sending: ServedSending;
beforeAll(async () => {
  sending = await serveSending();
});
afterAll(() => sending.stop());

it("writes the line of each receiver that the service has disabled in the last day, which its process may have left out", async () => {
  const lines: object[] = [];
  const log = Object.assign(openLog("webhook", "silent"), { warn: (fields: object) => void lines.push(fields) });
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
