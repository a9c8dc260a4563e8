import pg from "pg";
import { BOUNDED } from "../harness/databases.ts";
import { BODY_BYTES, RECEIVERS, WRITERS } from "./settings.ts";

export const brandOf = (receiver: number): string => `brd_${receiver}`;

/** Pads an event of about 620 bytes to the measured size. */
const PADDING = BODY_BYTES - 620;

/** Each change is of a record of its own, so that the events spread over the partitions of the log. $3: the changes before. */
const INSERT = `
  with made as (
    select n, at, records.new_id('evt', at) as id, ($2::text[])[1 + n % cardinality($2::text[])] as brand, 'sub_' || ($3 + n) as record
      from (select n, clock_timestamp() as at from generate_series(1, $1) n offset 0) numbered)
  insert into records.outbox (id, aggregatetype, aggregateid, type, payload)
  select id, 'submission', record, 'submission.approved', json_build_object(
           'id', id, 'type', 'submission.approved', 'created_at', records.utc(at), 'brand_id', brand,
           'data', json_build_object('resource', 'submissions', 'id', record, 'campaign_id', 'cmp_1', 'status', 'approved',
             'previous_status', 'pending', 'updated_at', records.utc(at), 'earned_centavos', 12000, 'currency', 'PHP', 'rejection_code', null, 'reviewed_at', null,
             'padding', repeat('x', ${PADDING})))
    from made order by n`;

const ALL_BRANDS = Array.from({ length: RECEIVERS }, (_, receiver) => brandOf(receiver));

/** Makes changes: rows of the outbox, as the platform's transactions do. */
export class Outbox {
  /** Commit beside each other: one connection waits for the disk as long as a commit takes. */
  readonly #writers: pg.Pool;
  #filling: pg.PoolClient | undefined;
  /** Changes since the start. */
  made = 0;

  constructor(databaseUrl: string) {
    this.#writers = new pg.Pool({ connectionString: databaseUrl, application_name: "bench", max: WRITERS, ...BOUNDED });
    this.#writers.on("error", () => {});
  }

  /**
   * Inserts `count` changes in one transaction, for the receivers in turn.
   *
   * @returns a function that commits them and so notifies the relay. Before, the relay sees none.
   */
  async fill(count: number): Promise<() => Promise<void>> {
    const client = await this.#writers.connect();
    this.#filling = client;
    await client.query("begin");
    await client.query(INSERT, [count, ALL_BRANDS, this.made]);
    await client.query("notify records_outbox");
    return async () => {
      await client.query("commit");
      this.made += count;
      client.release();
      this.#filling = undefined;
    };
  }

  /** Commits a change for a receiver, in a transaction of its own, on the next free connection, and notifies the relay. */
  async change(receiver: number): Promise<void> {
    const before = this.made;
    this.made += 1;
    await this.#writers.query(INSERT, [1, [brandOf(receiver)], before]);
    await this.#writers.query("notify records_outbox");
  }

  stop(): Promise<void> {
    // The pool waits for what was never committed.
    this.#filling?.release(true);
    return this.#writers.end();
  }
}
