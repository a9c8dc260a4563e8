import type { Sql } from "@brand-records/postgres";
import type { Logger } from "@brand-records/telemetry";
import { noteOnce } from "./note-once.ts";
import { disabledToday, type DisabledReceiver } from "./storage/disabled-receivers.ts";

const noticeId = ({ receiver_id, disabled_at }: DisabledReceiver): string => `${receiver_id} ${disabled_at}`;

/** Writes the line by which a platform hears of a receiver that the service has disabled. */
export function writeNotice(log: Logger, receiver: DisabledReceiver): void {
  const { receiver_id, brand_id, reason } = receiver;
  log.warn({ notice: "receiver.disabled", notice_id: noticeId(receiver), brand_id, receiver_id, reason }, "receiver disabled");
}

/**
 * Returns a task that writes this line again for each receiver that was disabled in the last day, once in this process. The first may be
 * missing: the process was killed after its commit, or did not get the commit's answer.
 */
export function noteDisabled(sql: Sql, log: Logger): () => Promise<void> {
  return noteOnce(
    () => disabledToday(sql),
    noticeId,
    (receiver) => writeNotice(log, receiver),
  );
}
