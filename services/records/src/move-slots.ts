import { onlyOf, type Sql } from "@brand-records/postgres";
import { showSampled } from "@brand-records/service-runtime";
import type { Registry } from "@brand-records/telemetry";

/** Slots of moves out of this cell, and those with which the new cell copies tables. */
const RETAINED = `select coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)), 0)::float8 as bytes
   from pg_replication_slots where database = current_database() and slot_name ~ '^(move_brd_|pg_\\d+_sync_)'`;

/** Shows how much of the disk moves keep from being freed. Every process shows it. */
export const showMoveSlots = (metrics: Registry, sql: Sql): unknown =>
  showSampled(metrics, async () => (await onlyOf(sql.query<{ bytes: number }>(RETAINED))).bytes, [
    {
      name: "move_slot_retained_bytes",
      help: "Write-ahead log that the replication slot of a move out of this cell keeps, the largest; 0 if there is none, -1 if the database does not respond.",
      of: (bytes) => bytes,
    },
  ]);
