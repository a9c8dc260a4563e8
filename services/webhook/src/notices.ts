import type { Database, Sql } from "@brand-records/postgres";
import { noticeWriter } from "@brand-records/service-runtime";
import type { Logger } from "@brand-records/telemetry";
import { notePause } from "./storage/lanes.ts";
import { disabledToday, longPauses, type DisabledReceiver, type LongPause } from "./storage/notices.ts";

const notify = noticeWriter("webhook");

/** Queues mail about a receiver that the service disables, in the transaction that does. */
export const notifyDisabled = (sql: Sql, { receiver_id, brand_id, reason }: DisabledReceiver): Promise<unknown> =>
  notify(sql, { action: `notice.receiver_${reason}`, brand_id, subject_id: receiver_id });

/** Queues mail about a receiver that accepts again. */
export const notifyWorks = (sql: Sql, { receiver_id, brand_id }: Pick<DisabledReceiver, "receiver_id" | "brand_id">): Promise<unknown> =>
  notify(sql, { action: "notice.receiver_works", brand_id, subject_id: receiver_id });

/** Writes the line by which a platform hears of a receiver that the service has disabled. */
export function writeDisabled(log: Logger, receiver: DisabledReceiver): void {
  const { receiver_id, brand_id, reason } = receiver;
  log.warn({ notice: "receiver.disabled", notice_id: disabledId(receiver), brand_id, receiver_id, reason }, "receiver disabled");
}

/**
 * Returns a task that writes this line again for each receiver that was disabled in the last day. The first may be missing: the process was
 * killed after its commit, or did not get the commit's answer.
 */
export const noteDisabled = (sql: Sql, log: Logger): (() => Promise<void>) =>
  noteOnce(
    () => disabledToday(sql),
    disabledId,
    (receiver) => writeDisabled(log, receiver),
  );

/** Returns a task that writes a line for each receiver that has been paused for an hour, and queues mail about it: of one pause once. */
export const noteLongPauses = (db: Database, log: Logger): (() => Promise<void>) =>
  noteOnce(
    () => longPauses(db),
    pauseId,
    async (pause) => {
      const { receiver_id, brand_id } = pause;
      await db.transaction(async (sql) => {
        if (await notePause(sql, receiver_id)) await notify(sql, { action: "notice.receiver_paused", brand_id, subject_id: receiver_id });
      });
      log.warn({ notice: "receiver.paused", notice_id: pauseId(pause), ...pause }, "receiver paused for an hour");
    },
  );

const disabledId = ({ receiver_id, disabled_at }: DisabledReceiver): string => `${receiver_id} ${disabled_at}`;
const pauseId = ({ receiver_id, failing_since }: LongPause): string => `${receiver_id} ${failing_since}`;

/**
 * Returns a task that writes each of the current notices once in this process. Others, and this one after a restart, write it too, with the
 * same id.
 */
function noteOnce<Notice>(
  readCurrent: () => Promise<readonly Notice[]>,
  idOf: (notice: Notice) => string,
  write: (notice: Notice) => Promise<void> | void,
): () => Promise<void> {
  let noted = new Set<string>();
  return async () => {
    const current = await readCurrent();
    for (const notice of current) if (!noted.has(idOf(notice))) await write(notice);
    noted = new Set(current.map(idOf));
  };
}
