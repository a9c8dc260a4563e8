import type { Sql } from "@brand-records/postgres";

const BATCH_ROWS = 1_000;
const DEAD_LETTER_DAYS = 90;

/** Deletes dead letters of the direct log after 90 days. Their ids rise with time, so the youngest are not read. */
export async function deleteOldDeadLetters(sql: Sql): Promise<void> {
  await inBatches(() =>
    sql.query(
      `delete from webhook.dead_letters
        where id = any(array(select id from webhook.dead_letters order by id limit ${BATCH_ROWS}))
          and dead_lettered_at < now() - make_interval(days => $1) returning 1`,
      [DEAD_LETTER_DAYS],
    ),
  );
}

export async function deleteOldReplays(sql: Sql, keepDays: number): Promise<void> {
  await inBatches(() =>
    sql.query(
      `delete from webhook.replays where id = any(array(
         select id from webhook.replays where finished_at < now() - make_interval(days => $1) limit ${BATCH_ROWS} for update skip locked)) returning 1`,
      [keepDays],
    ),
  );
}

async function inBatches(deleteBatch: () => Promise<unknown[]>): Promise<void> {
  while ((await deleteBatch()).length === BATCH_ROWS);
}
