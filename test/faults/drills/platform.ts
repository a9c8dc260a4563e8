import { openPool, type Database } from "@brand-records/postgres";
import { eventually } from "@brand-records/testkit";
import { addSubmission } from "../../submissions.ts";
import type { FakeReceivers } from "../../fake-receivers.ts";
import type { Answer } from "./callers.ts";

const RECORDS_PER_BRAND = 20;
/** Redelivery to a receiver whose circuit is open takes longest. */
const DELIVERED_MS_MAX = 90_000;

/**
 * The platform: it changes statuses, and keeps a ledger of the changes that the database has committed. A trigger writes the ledger in
 * the transaction of the change, because the writer does not learn the fate of a commit whose connection breaks.
 */
export class Platform {
  readonly #db: Database;
  readonly #records: { readonly brand: string; readonly id: string }[] = [];
  #next = 0;

  constructor(databaseUrl: string) {
    this.#db = openPool({ url: databaseUrl, applicationName: "platform", max: 5, statementTimeoutMs: 3_000 });
  }

  async prepare(): Promise<void> {
    await this.#db.query(`
      create table public.changes (record text not null, type text not null);
      create function public.note_change() returns trigger language plpgsql as $$
      begin insert into public.changes values (new.id, 'submission.' || new.status); return null; end $$;
      create trigger note_change after update of status on records.submissions for each row execute function public.note_change()`);
  }

  async addRecords(brand: string): Promise<void> {
    for (let index = 0; index < RECORDS_PER_BRAND; index += 1) {
      this.#records.push({ brand, id: await addSubmission(this.#db, brand) });
    }
  }

  /**
   * Sends the events of changes again that webhook has not, as docs/platform.md says, once there are `lost` of these. Nothing may be changed
   * meanwhile. The ledger has these changes already.
   */
  async sendAgain(lost: number): Promise<void> {
    const missing = await eventually(
      async () => {
        const rows = await this.#db.query<{ record: string; status: string; events: number }>(`
        select record, split_part(type, '.', 2) as status, (c.n - coalesce(e.n, 0))::int as events
          from (select record, type, count(*) as n from public.changes group by 1, 2) c
          left join (select data->>'id' as record, type, count(*) as n from webhook.events where not test group by 1, 2) e using (record, type)
         where c.n > coalesce(e.n, 0)`);
        expect(rows.reduce((sum, { events }) => sum + events, 0)).toBe(lost);
        return rows;
      },
      { timeoutMs: DELIVERED_MS_MAX },
    );
    await this.#db.transaction(async (sql) => {
      await sql.query("alter table records.submissions disable trigger note_change");
      for (const { record, status, events } of missing) {
        const set = (on: string, to: string): Promise<unknown> =>
          sql
            .query("select set_config('brand_records.events', $1, true)", [on])
            .then(() => sql.query("update records.submissions set status = $2 where id = $1", [record, to]));
        const [{ now } = { now: "" }] = await sql.query<{ now: string }>("select status as now from records.submissions where id = $1", [
          record,
        ]);
        for (let sent = 0; sent < events; sent += 1) {
          await set("off", "pending");
          await set("on", status);
        }
        await set("off", now);
      }
      await sql.query("alter table records.submissions enable trigger note_change");
    });
  }

  forgetRecords(brand: string): void {
    this.#records.splice(0, this.#records.length, ...this.#records.filter((record) => record.brand !== brand));
  }

  /** Approves or rejects the next record. Never rejects. */
  async change(): Promise<Pick<Answer, "answer" | "retryAfter">> {
    const { brand, id } = this.#records[this.#next++ % this.#records.length]!;
    try {
      await this.#db.query(
        `update records.submissions set status = case status when 'approved' then 'rejected' else 'approved' end where brand_id = $1 and id = $2`,
        [brand, id],
      );
      return { answer: "ok", retryAfter: undefined };
    } catch (error) {
      const { kind, code } = error as { kind?: string; code?: string };
      return { answer: kind ?? code ?? String(error), retryAfter: undefined };
    }
  }

  /** Completes every plan, as people do: a brand has at most 200 that are pending. */
  async closePlans(): Promise<void> {
    await this.#db.query("delete from plans.plans");
  }

  /**
   * Resolves when each change is one event, each event has one delivery per receiver, all are delivered, and the receivers have accepted
   * each. Nothing may be changed meanwhile.
   */
  async untilDelivered(receivers: FakeReceivers): Promise<void> {
    await eventually(
      async () => {
        const [state] = await this.#db.query(`
          select (select count(*) from records.outbox) as outbox, (select count(*) from webhook.deliveries) as deliveries,
                 (select count(*) from (
                    (select record, type, count(*) from public.changes group by 1, 2)
                    except (select data->>'id', type, count(*) from webhook.events where not test group by 1, 2)) missing) as without_event,
                 (select count(*) from webhook.events where not test) - (select count(*) from public.changes) as events_without_change,
                 (select count(*) from webhook.past_deliveries where state <> 'delivered') as failed`);
        expect(state).toEqual({ outbox: 0, deliveries: 0, without_event: 0, events_without_change: 0, failed: 0 });
        const expected = await this.#db.query<{ event_id: string }>("select event_id from webhook.past_deliveries");
        const accepted = new Set(receivers.arrivals.flatMap(({ eventId, behavior }) => (behavior === "accepted" ? [eventId] : [])));
        expect(expected.filter(({ event_id }) => !accepted.has(event_id))).toEqual([]);
      },
      { timeoutMs: DELIVERED_MS_MAX, everyMs: 250 },
    );
  }

  /** Makes the server refuse every write (25006), as one that is no longer the primary. */
  async setReadOnly(on: boolean): Promise<void> {
    await this.#db.query(`alter system ${on ? "set default_transaction_read_only = on" : "reset default_transaction_read_only"}`);
    await this.#db.query("select pg_reload_conf()");
  }

  async stop(): Promise<void> {
    await this.#db.stop();
  }
}
