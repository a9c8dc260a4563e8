import { setTimeout as pause } from "node:timers/promises";
import { WakeSignal, type Stoppable } from "@brand-records/lifecycle";
import type { Database, Sql } from "@brand-records/postgres";
import type { AuditServiceService } from "@brand-records/proto/accounts/v1";
import { newCallContext, type AuditSink, type CallContext, type PlannedEntry, type RpcClient } from "@brand-records/rpc";
import { RepeatedWarning, type Logger, type Registry } from "@brand-records/telemetry";
import type { AppError } from "@brand-records/errors";
import { recorderOf, refusedEntry, type NewAuditEntry, type RecordChange, type SentAuditEntry } from "./audit-entries.ts";
import { showSampled } from "./sampler.ts";

/** A message takes 5,000 entries with all that one may hold. */
const BATCH_MAX = 500;
const POLL_MS = 1_000;
const RETRY_MS = 1_000;
const HAND_OVER_MS = 5_000;
/** Postgres ends the transaction of a process that freezes while it hands over, and another takes its place. */
const IDLE_MS = 10_000;
/** How long entries stay that accounts has acknowledged: a backup of accounts that is restored is not older. */
const KEEP_DAYS = 7;
const CLEAN_EVERY_MS = 600_000;
const CLEAN_ROWS = 5_000;

interface AuditOutboxOptions {
  /** Of the service: its table is `audit_outbox`. */
  readonly schema: string;
  readonly db: Database;
  readonly accounts: Pick<RpcClient<AuditServiceService>, "recordAudit">;
  readonly log: Logger;
  readonly metrics: Registry;
}

/**
 * Entries of the audit log on their way to accounts. A change writes its entry in its own transaction; one process at a time hands entries
 * over, in the order of their numbers, at least once: accounts knows them by their ids. They stay for seven days after that. When accounts
 * says that its log has another epoch, it was restored from a backup, and gets all of them again.
 */
export class AuditOutbox implements AuditSink, Stoppable {
  readonly #options: AuditOutboxOptions;
  readonly #sql: ReturnType<typeof statementsOf>;
  readonly #stopping = new AbortController();
  readonly #wake = new WakeSignal();
  readonly #running: Promise<void>;
  #cleanedAt = -Infinity;

  constructor(options: AuditOutboxOptions) {
    this.#options = options;
    this.#sql = statementsOf(options.schema);
    showSampled(options.metrics, () => this.#oldestSeconds(), [
      {
        name: "audit_outbox_oldest_seconds",
        help: "Age of the oldest entry of the audit log that accounts has not acknowledged; 0 if there is none, -1 if the database does not respond.",
        of: (seconds) => seconds,
      },
    ]);
    this.#running = this.#run();
  }

  /** Returns what writes the entry of a call, in the transaction of its change. */
  record(call: CallContext): RecordChange {
    return recorderOf(call, (sql, entry) => this.#insert(sql, entry));
  }

  async refused(entry: PlannedEntry, { kind }: AppError): Promise<void> {
    if (entry.brand_id === undefined) return;
    await this.#insert(this.#options.db, refusedEntry(entry, entry.brand_id, kind));
  }

  changed(): void {
    this.#wake.notify();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake.notify();
    await this.#running;
  }

  /** Puts what takes a person's place into the entries. */
  async erase(sql: Sql, email: string, pseudonym: string): Promise<string[]> {
    return (await sql.query<{ brand_id: string }>(this.#sql.erase, [email, pseudonym])).map(({ brand_id }) => brand_id);
  }

  /** Deletes up to `limit` entries of a brand. Returns how many. */
  async deleteOf(sql: Sql, brandId: string, limit: number): Promise<number> {
    return (await sql.query(this.#sql.deleteOf, [brandId, limit])).length;
  }

  async #insert(sql: Sql, { id, brand_id, ...entry }: NewAuditEntry): Promise<void> {
    await sql.query(this.#sql.insert, [id, brand_id, JSON.stringify(entry)]);
  }

  async #oldestSeconds(): Promise<number> {
    const [row] = await this.#options.db.query<{ seconds: number }>(this.#sql.oldest);
    return Math.max(0, row?.seconds ?? 0);
  }

  async #run(): Promise<void> {
    const warning = new RepeatedWarning(this.#options.log, "entries of the audit log wait: accounts takes none");
    while (!this.#stopping.signal.aborted) {
      try {
        this.#wake.reset();
        while ((await this.#handOver()) === BATCH_MAX);
        await this.#clean();
        await this.#wake.wait(POLL_MS);
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        warning.write({ err: error });
        await pause(RETRY_MS, undefined, { signal: this.#stopping.signal }).catch(() => {});
      }
    }
  }

  /** Hands over the oldest entries. Returns how many; 0 while another process does. */
  #handOver(): Promise<number> {
    const { db, accounts, schema } = this.#options;
    return db.transaction(async (sql) => {
      await sql.query(`set local idle_in_transaction_session_timeout = ${IDLE_MS}`);
      const [lock] = await sql.query<{ leads: boolean }>(this.#sql.tryLead);
      if (lock?.leads !== true) return 0;
      const rows = await sql.query<SentAuditEntry & { readonly seq: number }>(this.#sql.read, [BATCH_MAX]);
      if (rows.length === 0) return 0;
      const entries = rows.map(({ seq: _seq, ...entry }) => entry);
      const { epoch } = await accounts.recordAudit({ entries }, newCallContext(HAND_OVER_MS));
      const [known] = await sql.query<{ is_another: boolean }>(this.#sql.noteEpoch, [epoch]);
      if (known?.is_another === true) {
        await sql.query(this.#sql.handAgain);
        this.#options.log.info({ schema }, "accounts has another audit log: it gets the entries of seven days again");
      }
      await sql.query(this.#sql.acknowledge, [rows.map(({ seq }) => seq)]);
      return rows.length;
    });
  }

  async #clean(): Promise<void> {
    if (performance.now() - this.#cleanedAt < CLEAN_EVERY_MS) return;
    this.#cleanedAt = performance.now();
    while ((await this.#options.db.query(this.#sql.clean, [KEEP_DAYS, CLEAN_ROWS])).length === CLEAN_ROWS);
  }
}

const statementsOf = (schema: string) => {
  const table = `${schema}.audit_outbox`;
  const statement = (name: string, text: string) => ({ name: `audit_outbox.${name}`, text });
  return {
    // The clock's time: the transaction may have waited for the locks of another change, which comes before it.
    insert: statement(
      "insert",
      `insert into ${table} as o (id, brand_id, entry, created_at) values ($1, $2, $3::jsonb, clock_timestamp())
           on conflict (id) do update set entry = excluded.entry, tries = o.tries + 1, acknowledged_at = null
            where o.entry->'actor' = excluded.entry->'actor'`,
    ),
    tryLead: statement("try_lead", `select pg_try_advisory_xact_lock(hashtext('brand-records ${table}')) as leads`),
    read: statement(
      "read",
      `select o.seq, o.id, o.brand_id, o.tries, o.created_at, e.* from ${table} o
        cross join jsonb_to_record(o.entry) as e(action text, actor text, via text, subject_id text, fields text[], role text, request_id text,
                                                 address text, browser text, outcome text, error_kind text)
        where o.acknowledged_at is null order by o.seq limit $1`,
    ),
    acknowledge: statement("acknowledge", `update ${table} set acknowledged_at = now() where seq = any($1::bigint[])`),
    noteEpoch: statement(
      "note_epoch",
      `with before as (select epoch from ${schema}.audit_epoch),
            noted as (insert into ${schema}.audit_epoch as e (epoch) values ($1)
                          on conflict (only_row) do update set epoch = excluded.epoch where e.epoch <> excluded.epoch)
       select epoch <> $1 as is_another from before`,
    ),
    handAgain: statement("hand_again", `update ${table} set acknowledged_at = null where acknowledged_at is not null`),
    oldest: statement(
      "oldest",
      `select extract(epoch from clock_timestamp() - created_at)::float8 as seconds from ${table}
        where acknowledged_at is null order by seq limit 1`,
    ),
    clean: statement(
      "clean",
      `delete from ${table} where seq = any(array(
         select seq from ${table} where acknowledged_at < now() - make_interval(days => $1) limit $2)) returning 1`,
    ),
    erase: statement(
      "erase",
      `update ${table} set entry = entry
              || case when entry->>'actor' = $1 then jsonb_build_object('actor', $2::text) else '{}' end
              || case when entry->>'via' = $1 then jsonb_build_object('via', $2::text) else '{}' end
              || '{"address": null, "browser": null}'
        where $1 in (entry->>'actor', entry->>'via') returning brand_id`,
    ),
    deleteOf: statement(
      "delete_of",
      `delete from ${table} where seq = any(array(select seq from ${table} where brand_id = $1 limit $2)) returning 1`,
    ),
  };
};
