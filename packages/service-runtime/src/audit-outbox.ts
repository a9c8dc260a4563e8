import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { AppError } from "@brand-records/errors";
import { WakeSignal, type Stoppable } from "@brand-records/lifecycle";
import { statementsOf, unnestRows, type Database, type Sql } from "@brand-records/postgres";
import type { AuditServiceService } from "@brand-records/proto/accounts/v1";
import { newCallContext, type AuditSink, type CallContext, type PlannedEntry, type RpcClient } from "@brand-records/rpc";
import { RepeatedWarning, type Logger, type Registry } from "@brand-records/telemetry";
import {
  nextEntryId,
  recorderOf,
  refusedEntry,
  type NewAuditEntry,
  type NoticeAction,
  type RecordChange,
  type SentAuditEntry,
} from "./audit-entries.ts";
import type { DeletionStep } from "./delete-in-batches.ts";
import { showSampled } from "./sampler.ts";

/** A message takes 5,000 entries with all that one may hold. */
const BATCH_MAX = 500;
const POLL_MS = 1_000;
const RETRY_MS = 1_000;
/** Changes of this time share a call: at 50 a second, each would otherwise make three statements and a call of its own. */
const GATHER_MS = 100;
/** Time for all calls of a batch together. */
const HAND_OVER_MS = 5_000;
/** Longer than HAND_OVER_MS: when another process takes the lead, the calls of the one before have ended. */
const LEASE_SECONDS = 10;
/** How long entries stay that accounts has acknowledged: a backup of accounts that is restored is not older. */
const KEEP_DAYS = 7;
const CLEAN_EVERY_MS = 600_000;
const CHUNK_ROWS = 5_000;

interface AuditOutboxOptions {
  /** The service's schema, with its tables `audit_outbox` and `audit_relay`. */
  readonly schema: string;
  readonly db: Database;
  readonly accounts: Pick<RpcClient<AuditServiceService>, "recordAudit">;
  readonly log: Logger;
  readonly metrics: Registry;
}

interface WaitingRow extends SentAuditEntry {
  readonly seq: number;
}

/**
 * Entries of the audit log on their way to accounts. A change writes its entry in its own transaction; one process at a time hands entries
 * over, in the order of their numbers, at least once: accounts knows them by their ids, and sorts by their times. They stay for seven days
 * after that. When accounts says that its log has another epoch, it was restored from a backup, and gets all of them again.
 *
 * The lead is a lease, so that no connection is held while accounts responds: DATABASE_CONNECTIONS_MAX may be 2.
 */
export class AuditOutbox implements AuditSink, Stoppable {
  readonly #options: AuditOutboxOptions;
  readonly #sql: ReturnType<typeof outboxStatements>;
  readonly #process = randomUUID();
  readonly #stopping = new AbortController();
  readonly #wake = new WakeSignal();
  readonly #running: Promise<void>;
  #cleanedAt = -Infinity;

  constructor(options: AuditOutboxOptions) {
    this.#options = options;
    this.#sql = outboxStatements(options.schema);
    showSampled(options.metrics, () => this.#oldestSeconds(), [
      {
        name: "audit_outbox_oldest_seconds",
        help: "Time that an entry of the audit log has waited for accounts, the longest; 0: none waits, -1: the database does not respond.",
        of: (seconds) => seconds,
      },
    ]);
    this.#running = this.#run();
  }

  /** Returns what writes the entry of a call, in the transaction of its change. */
  record(call: CallContext): RecordChange {
    return recorderOf(call, async (sql, entry) => void (await sql.query(this.#sql.insert, valuesOf(entry))));
  }

  /** What refusals are counted by is a hash with the address. An erasure forgets it, so it cannot be the entry's id. */
  async refused(entry: PlannedEntry, { kind }: AppError): Promise<void> {
    if (entry.brand_id === undefined) return;
    const counted = refusedEntry(entry, entry.brand_id, kind);
    await this.#options.db.query(this.#sql.count, [...valuesOf({ ...counted, id: nextEntryId() }), counted.id]);
  }

  changed(): void {
    this.#wake.notify();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake.notify();
    await this.#running;
  }

  /**
   * Puts the pseudonym in place of a person's address, and waits for calls that have the address: accounts, which comes next, gets it from
   * none later. Returns the brands with an entry that has the pseudonym, also from before.
   */
  async erase(email: string, pseudonym: string): Promise<string[]> {
    const { db } = this.#options;
    await db.query(this.#sql.erase, [email, pseudonym]);
    const lease = async () => (await db.query<{ until: string }>(this.#sql.lease))[0]?.until;
    const before = await lease();
    while (before !== undefined && before === (await lease())) await pause(GATHER_MS);
    return (await db.query<{ brand_id: string }>(this.#sql.brandsNaming, [pseudonym])).map(({ brand_id }) => brand_id);
  }

  async #oldestSeconds(): Promise<number> {
    const [row] = await this.#options.db.query<{ seconds: number }>(this.#sql.oldest);
    return Math.max(0, row?.seconds ?? 0);
  }

  async #run(): Promise<void> {
    const warning = new RepeatedWarning(this.#options.log, "entries of the audit log wait");
    while (!this.#stopping.signal.aborted) {
      try {
        this.#wake.reset();
        while (await this.#handOver());
        await this.#wake.wait(POLL_MS);
        await this.#pause(GATHER_MS);
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        warning.write({ err: error });
        await this.#pause(RETRY_MS);
      }
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    await pause(milliseconds, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }

  /** Hands over the oldest entries, unless another process leads. Returns whether there may be more. */
  async #handOver(): Promise<boolean> {
    const { db } = this.#options;
    const call = { ...newCallContext(HAND_OVER_MS), signal: this.#stopping.signal };
    const [lead] = await db.query<{ epoch: string | null }>(this.#sql.lead, [this.#process, LEASE_SECONDS]);
    if (lead === undefined) return false;
    try {
      const rows = await db.query<WaitingRow>(this.#sql.read, [BATCH_MAX]);
      const entries = rows.map(({ seq: _seq, ...entry }) => entry);
      // Without entries, only asks for the epoch.
      const { epoch, refused } = await this.#options.accounts.recordAudit({ entries }, call);
      const problems = new Map(refused.map(({ id, problem }) => [id, problem]));
      if (problems.size > 0) await this.#holdBack(rows, problems);
      const isRestored = lead.epoch !== null && lead.epoch !== epoch;
      if (isRestored) await this.#handAllAgain();
      // A restored log gets these again: perhaps the one before it has taken some of them.
      const taken = isRestored ? [] : rows.filter(({ id }) => !problems.has(id));
      const acknowledged = taken.map(({ seq, tries }) => ({ seq, tries }));
      await db.query(this.#sql.acknowledge, [this.#process, epoch, ...ACKNOWLEDGED.values(acknowledged)]);
      await this.#clean();
      return isRestored || rows.length === BATCH_MAX;
    } catch (error) {
      // Another process may reach accounts.
      await db.query(this.#sql.release, [this.#process]).catch(() => {});
      throw error;
    }
  }

  /** They wait, visibly, and are tried again each hour: an update of accounts may take them. The others do not wait for them. */
  async #holdBack(rows: readonly WaitingRow[], problems: ReadonlyMap<string, string>): Promise<void> {
    const held = rows.filter(({ id }) => problems.has(id));
    await this.#options.db.query(this.#sql.holdBack, [held.map(({ seq }) => seq)]);
    for (const { id, brand_id, action } of held)
      this.#options.log.error({ entry_id: id, brand_id, action, problem: problems.get(id) }, "accounts refuses an entry of the audit log");
  }

  /** Before the new epoch is noted: what is interrupted is repeated. */
  async #handAllAgain(): Promise<void> {
    const { db, schema, log } = this.#options;
    log.info({ schema }, "accounts has another audit log: it gets the entries of seven days again");
    while ((await db.query(this.#sql.handAgain, [CHUNK_ROWS])).length === CHUNK_ROWS);
  }

  /** Only after accounts has responded: a restored one, which was away for days, may need the oldest. */
  async #clean(): Promise<void> {
    if (performance.now() - this.#cleanedAt < CLEAN_EVERY_MS) return;
    this.#cleanedAt = performance.now();
    while ((await this.#options.db.query(this.#sql.clean, [KEEP_DAYS, CHUNK_ROWS])).length === CHUNK_ROWS);
  }
}

interface Notice {
  readonly action: NoticeAction;
  readonly brand_id: string;
  readonly subject_id: string;
}

/**
 * Returns a function that writes a service's notice in the transaction of what it is about. A notice travels as an entry without an actor.
 */
export function noticeWriter(schema: string): (sql: Sql, notice: Notice) => Promise<unknown> {
  const { insert } = outboxStatements(schema);
  return (sql, { brand_id, ...notice }) => {
    const id = nextEntryId();
    return sql.query(insert, [id, brand_id, JSON.stringify({ ...notice, fields: [], request_id: id, outcome: "done" })]);
  };
}

/** Deletes what waits or is kept of a brand: accounts drops what it still gets of a deleted one. */
export function auditEntriesOf(db: Database, schema: string, brandId: string): DeletionStep {
  const { deleteOf } = outboxStatements(schema);
  return {
    kind: "audit entries",
    batchRows: CHUNK_ROWS,
    deleteBatch: async (limit) => (await db.query(deleteOf, [brandId, limit])).length,
  };
}

const valuesOf = ({ id, brand_id, ...entry }: NewAuditEntry): string[] => [id, brand_id, JSON.stringify(entry)];

/** With the count that was sent: a refusal that was counted meanwhile waits on. */
const ACKNOWLEDGED = unnestRows({ seq: "bigint", tries: "int" }, { as: "a", after: 2 });

const WAITS = "o.acknowledged_at is null and (o.refused_at is null or o.refused_at < now() - interval '1 hour')";

const outboxStatements = (schema: string) => {
  const [table, relay] = [`${schema}.audit_outbox`, `${schema}.audit_relay`];
  return statementsOf("audit_outbox", {
    insert: `insert into ${table} (id, brand_id, entry) values ($1, $2, $3::jsonb)`,
    count: `insert into ${table} as o (id, brand_id, entry, counted_by) values ($1, $2, $3::jsonb, $4)
           on conflict (counted_by) do update set entry = excluded.entry, tries = o.tries + 1, acknowledged_at = null, refused_at = null,
                                                  waits_since = clock_timestamp()`,
    lead: `update ${relay} r set leader = $1, leads_until = clock_timestamp() + make_interval(secs => $2)
        where (r.leader = $1 or r.leads_until is null or r.leads_until < clock_timestamp())
          and (r.asked_at is null or r.asked_at < now() - interval '1 minute'
               or (select o.seq from ${table} o where ${WAITS} order by o.seq limit 1) is not null)
       returning r.epoch`,
    lease: `select leads_until::text as until from ${relay} where leads_until > clock_timestamp()`,
    release: `update ${relay} set leader = null, leads_until = null where leader = $1`,
    read: `select o.seq, o.id, o.brand_id, o.tries, o.created_at, e.* from ${table} o
        cross join jsonb_to_record(o.entry) as e(action text, actor text, via text, subject_id text, fields text[], role text,
                                                 request_id text, address text, browser text, outcome text, error_kind text)
        where ${WAITS} order by o.seq limit $1`,
    acknowledge: `with led as (
         update ${relay} set leader = null, leads_until = null, epoch = $2, asked_at = now() where leader = $1 returning 1)
       update ${table} o set acknowledged_at = now(), refused_at = null from ${ACKNOWLEDGED.relation}
        where o.seq = a.seq and o.tries = a.tries and exists (select from led)`,
    holdBack: `update ${table} set refused_at = now() where seq = any($1::bigint[])`,
    handAgain: `update ${table} set acknowledged_at = null, waits_since = clock_timestamp() where seq = any(array(
         select seq from ${table} where acknowledged_at is not null order by acknowledged_at limit $1)) returning 1`,
    oldest: `select extract(epoch from clock_timestamp() - min(o.waits_since))::float8 as seconds
         from (select waits_since from ${table} where acknowledged_at is null order by seq limit 1000) o`,
    clean: `delete from ${table} where seq = any(array(
         select seq from ${table} where acknowledged_at < now() - make_interval(days => $1) limit $2)) returning 1`,
    erase: `update ${table} set counted_by = null, entry = entry
              || case when entry->>'actor' = $1 then jsonb_build_object('actor', $2::text) else '{}' end
              || case when entry->>'via' = $1 then jsonb_build_object('via', $2::text) else '{}' end
              || '{"address": null, "browser": null}'
        where $1 in (entry->>'actor', entry->>'via')`,
    brandsNaming: `select distinct brand_id from ${table} where $1 in (entry->>'actor', entry->>'via')`,
    deleteOf: `delete from ${table} where seq = any(array(select seq from ${table} where brand_id = $1 limit $2)) returning 1`,
  });
};
