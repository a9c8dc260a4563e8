import { unnestRows, type Database } from "@brand-records/postgres";
import type { DeadLetter, DeadLetters, DeadLetterSummary, Intake, ReceivedMessage } from "../event-log.ts";

const DEAD_LETTERS = unnestRows({ position: "text", reason: "text", key: "text", value: "bytea", headers: "jsonb" });

const BATCH = 100;
const COUNTED_MAX = 10_000;

interface Row extends ReceivedMessage {
  readonly id: number;
}

/** Keeps dead letters in a table, for the log without Kafka. @param table with the columns of `webhook.dead_letters` */
export function postgresDeadLetters(db: Database, table: string, intake: Intake): DeadLetters {
  const select = `select id, position, key, value, headers from ${table}`;
  return {
    async put(deadLetters) {
      await db.query(
        `insert into ${table} (${DEAD_LETTERS.columns}) select * from ${DEAD_LETTERS.relation}`,
        DEAD_LETTERS.values(deadLetters.map(rowOf)),
      );
    },
    async list(limit) {
      const deadLetters = await db.query<DeadLetterSummary>(
        `select position, reason, key, octet_length(value) as bytes, dead_lettered_at as "deadLetteredAt" from ${table} order by id limit $1`,
        [limit],
      );
      const [count] = await db.query<{ total: number }>(`select count(*) as total from ${table}`);
      return { deadLetters, total: count?.total ?? 0 };
    },
    async count() {
      const [row] = await db.query<{ total: number }>(`select count(*) as total from (select from ${table} limit $1) d`, [COUNTED_MAX]);
      return row?.total ?? 0;
    },
    async replay() {
      const [last] = await db.query<{ id: number | null }>(`select max(id) as id from ${table}`);
      let replayed = 0;
      let rows: Row[];
      do {
        rows = await db.query<Row>(`${select} where id <= $1 order by id limit $2`, [last?.id ?? 0, BATCH]);
        // Messages that still cannot be processed become new dead letters, after `last`.
        if (rows.length > 0) await intake(rows);
        await db.query(`delete from ${table} where id = any($1)`, [rows.map(({ id }) => id)]);
        replayed += rows.length;
      } while (rows.length === BATCH);
      return replayed;
    },
    async remove(isRemoved) {
      let removed = 0;
      let rows: Row[];
      let after = 0;
      do {
        rows = await db.query<Row>(`${select} where id > $1 order by id limit $2`, [after, BATCH]);
        const ids = rows.filter(isRemoved).map(({ id }) => id);
        if (ids.length > 0) await db.query(`delete from ${table} where id = any($1)`, [ids]);
        removed += ids.length;
        after = rows.at(-1)?.id ?? after;
      } while (rows.length === BATCH);
      return removed;
    },
  };
}

function rowOf({ message, reason }: DeadLetter) {
  const headers = Object.entries(message.headers).map(([name, value]) => [withoutNul(name), withoutNul(value)]);
  return {
    position: message.position,
    reason: withoutNul(reason),
    key: withoutNul(message.key),
    value: message.value,
    headers: JSON.stringify(Object.fromEntries(headers)),
  };
}

/** Postgres stores no NUL in text. A key without its NUL can still be recognised. */
const withoutNul = (text: string): string => text.replaceAll("\0", "");
