import type { Database } from "@brand-records/postgres";
import type { DeadLetter, DeadLetters, Intake, ReceivedMessage, DeadLetterSummary } from "../event-log.ts";

const BATCH = 100;

interface Row extends ReceivedMessage {
  readonly id: number;
}

/**
 * A table, where there is no Kafka to keep them.
 *
 * @param table with the columns of `webhook.dead_letters`
 */
export function postgresDeadLetters(db: Database, table: string, intake: Intake): DeadLetters {
  const select = `select id, position, key, value, headers from ${table}`;
  return {
    async put(letters) {
      await db.query(
        `insert into ${table} (position, reason, key, value, headers)
         select * from unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::jsonb[])`,
        columnsOf(letters),
      );
    },
    async list(limit) {
      const letters = await db.query<DeadLetterSummary>(
        `select position, reason, key, octet_length(value) as bytes, dead_lettered_at as "deadLetteredAt" from ${table} order by id limit $1`,
        [limit],
      );
      const [count] = await db.query<{ total: number }>(`select count(*) as total from ${table}`);
      return { letters, total: count?.total ?? 0 };
    },
    async replay() {
      const [last] = await db.query<{ id: number | null }>(`select max(id) as id from ${table}`);
      let replayed = 0;
      let rows: Row[];
      do {
        rows = await db.query<Row>(`${select} where id <= $1 order by id limit $2`, [last?.id ?? 0, BATCH]);
        // What still cannot be read is put aside anew, behind the last of now.
        if (rows.length > 0) await intake(rows);
        await db.query(`delete from ${table} where id = any($1)`, [rows.map(({ id }) => id)]);
        replayed += rows.length;
      } while (rows.length === BATCH);
      return replayed;
    },
  };
}

function columnsOf(letters: readonly DeadLetter[]): unknown[][] {
  // Text of Postgres holds no NUL; of a key that has one, the rest is enough to know it by.
  const text = (from: string): string => from.replaceAll("\0", "");
  return [
    letters.map(({ message }) => message.position),
    letters.map(({ reason }) => text(reason)),
    letters.map(({ message }) => text(message.key)),
    letters.map(({ message }) => message.value),
    letters.map(({ message }) =>
      JSON.stringify(Object.fromEntries(Object.entries(message.headers).map(([name, value]) => [text(name), text(value)]))),
    ),
  ];
}
