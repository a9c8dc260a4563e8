import type { Sql } from "@brand-records/postgres";
import type { Logger } from "@brand-records/telemetry";
import { noteOnce } from "./note-once.ts";
import { longPauses, type LongPause } from "./storage/long-pauses.ts";

const noticeId = ({ receiver_id, failing_since }: LongPause): string => `${receiver_id} ${failing_since}`;

/** Returns a task that writes a line for each receiver that has been paused for an hour: once in this process for each pause. */
export function noteLongPauses(sql: Sql, log: Logger): () => Promise<void> {
  const write = (pause: LongPause): void => {
    const { receiver_id, brand_id, failing_since } = pause;
    const fields = { notice: "receiver.paused", notice_id: noticeId(pause), brand_id, receiver_id, failing_since };
    log.warn(fields, "receiver paused for an hour");
  };
  return noteOnce(() => longPauses(sql), noticeId, write);
}
