import type { Sql } from "@brand-records/postgres";
import type { Logger } from "@brand-records/telemetry";
import { longPauses } from "./storage/long-pauses.ts";

/**
 * Returns a task that writes a line for each receiver that has been paused for an hour: once in this process for each pause. Other
 * processes, and this one after a restart, write it too, with the same `notice_id`.
 */
export function noteLongPauses(sql: Sql, log: Logger): () => Promise<void> {
  let noted = new Set<string>();
  return async () => {
    const current = new Set<string>();
    for (const { receiver_id, brand_id, failing_since } of await longPauses(sql)) {
      const notice_id = `${receiver_id} ${failing_since}`;
      current.add(notice_id);
      if (noted.has(notice_id)) continue;
      log.warn({ notice: "receiver.paused", notice_id, brand_id, receiver_id, failing_since }, "receiver paused for an hour");
    }
    noted = current;
  };
}
