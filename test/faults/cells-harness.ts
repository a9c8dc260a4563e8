import { setTimeout as pause } from "node:timers/promises";
import { migrate } from "@brand-records/postgres";
import { freePort } from "@brand-records/postgres/embedded";
import { startPostgresServer, startProcess, type PostgresServer, type ServiceProcess } from "@brand-records/testkit";
import type pg from "pg";
import { addressSettings, brandctl } from "../command-line.ts";
import { scriptOf } from "../program-script.ts";
import type { Stack, StackOptions } from "../stack.ts";

interface DocumentedWriter {
  inCellOf<T>(
    accounts: pg.Pool,
    pools: Readonly<Record<string, pg.Pool>>,
    brandId: string,
    work: (sql: pg.PoolClient) => Promise<T>,
  ): Promise<T>;
  openCellPool(config: pg.PoolConfig): pg.Pool;
}
/** The tests of records have it. */
const { documentedWriter } = jest.requireActual<{ documentedWriter(): Promise<DocumentedWriter> }>(
  "../../services/records/test/documented-writer.ts",
);

const SETTINGS = { wal_level: "logical", wal_retrieve_retry_interval: "500ms", max_replication_slots: "40", max_wal_senders: "40" };

/** A cell: its server, its records with their relay, and the platform's login. */
export interface RunningCell {
  readonly name: string;
  readonly server: PostgresServer;
  readonly port: number;
  readonly pool: pg.Pool;
  /** Undefined: the stack's own. */
  process?: ServiceProcess;
}

/** Three cells on servers of their own; the first has no name, and its records are the stack's. */
export class Cells {
  readonly all: readonly [RunningCell, RunningCell, RunningCell];
  readonly #brokers: string;
  readonly #writer: DocumentedWriter;
  #stack: Stack | undefined;
  #accounts: pg.Pool | undefined;
  /** The longest time between the first and the last refusal of one change because its brand was being closed, in milliseconds. */
  closedMs = 0;

  private constructor(all: Cells["all"], brokers: string, writer: DocumentedWriter) {
    this.all = all;
    this.#brokers = brokers;
    this.#writer = writer;
  }

  static async start(brokers: string): Promise<Cells> {
    const writer = await documentedWriter();
    const start = async (name: string): Promise<RunningCell> => {
      const server = await startPostgresServer({ settings: SETTINGS });
      await migrate({ url: server.url, schema: "records", directory: "services/records/migrations" });
      return { name, server, port: await freePort(), pool: writer.openCellPool(poolOf(server.url)) };
    };
    return new Cells(await Promise.all([start(""), start("b"), start("c")]), brokers, writer);
  }

  get stackOptions(): StackOptions {
    const [first, ...named] = this.all;
    return {
      redisUrl: process.env["TEST_REDIS_URL"] ?? "",
      gateways: 2,
      envOf: {
        records: { DATABASE_URL: first.server.url, KAFKA_BROKERS: this.#brokers },
        gateway: { RECORDS_CELLS: named.map(({ name, port }) => `${name}=127.0.0.1:${port}`).join(","), RATE_LIMIT_PLUS: "100000" },
      },
    };
  }

  /** Starts records of the cells that have a name, once the stack has started. */
  async join(stack: Stack): Promise<void> {
    this.#stack = stack;
    this.#accounts = this.#writer.openCellPool(poolOf(stack.databaseUrl));
    for (const cell of this.all) if (cell.name !== "") await this.restartRecords(cell);
  }

  /** Kills the process that serves a cell and moves its events, if it runs, and starts another. */
  async restartRecords(cell: RunningCell): Promise<void> {
    const stack = this.#stack as Stack;
    if (cell.name === "") {
      await stack.processes.records.kill("SIGKILL");
      return stack.restart("records");
    }
    await cell.process?.kill("SIGKILL");
    const settings = { KAFKA_BROKERS: this.#brokers, KAFKA_TOPIC: stack.topic, RPC_PORT: String(cell.port), STOP_GRACE_MS: "0" };
    cell.process = await startProcess({
      name: `records ${cell.name}`,
      script: scriptOf("records"),
      env: { ...settings, DATABASE_URL: cell.server.url },
    });
  }

  /** Runs `brandctl brands move`. @param onStart gets what kills it */
  async move(
    brandId: string,
    args: readonly string[],
    onStart?: (kill: () => void) => void,
  ): Promise<{ code: number | null; output: string }> {
    const [first, ...named] = this.all;
    const env = {
      ...addressSettings((this.#stack as Stack).addresses),
      RECORDS_DATABASE_URL: first.server.url,
      RECORDS_CELL_DATABASES: named.map(({ name, server }) => `${name}=${server.url}`).join(","),
    };
    const { code, stdout, stderr } = await brandctl(["brands", "move", brandId, ...args, "--json"], {
      env,
      onStart: (child) => onStart?.(() => child.kill("SIGKILL")),
    });
    return { code, output: stdout + stderr };
  }

  /** Writes as docs/platform.md says, and again after the loss of a connection: the statement must allow that. */
  async write(brandId: string, statement: string, values: readonly unknown[]): Promise<void> {
    const pools = Object.fromEntries(this.all.map(({ name, pool }) => [name, pool]));
    let refusedAt: number | undefined;
    for (;;) {
      try {
        await this.#writer.inCellOf(this.#accounts as pg.Pool, pools, brandId, async (sql) => {
          try {
            await sql.query(statement, [...values]);
          } catch (error) {
            const { code, detail } = error as { code?: string; detail?: string };
            // With a detail it has moved, and is open there.
            if (code === "55R01" && detail === undefined) {
              refusedAt ??= performance.now();
              this.closedMs = Math.max(this.closedMs, performance.now() - refusedAt);
            }
            throw error;
          }
        });
        return;
      } catch (error) {
        if (!isAway(error)) throw error;
        refusedAt = undefined;
        await pause(50);
      }
    }
  }

  /** What moves have left: slots, publications, subscriptions, and brands that are not open in one cell. */
  async leftovers(): Promise<string[]> {
    const found: string[] = [];
    const homes = new Map<string, number>();
    for (const { name, pool } of this.all) {
      const { rows } = await pool.query<{ what: string }>(
        `select slot_name::text as what from pg_replication_slots union all select pubname from pg_publication
          union all select subname from pg_subscription union all select brand_id || ' is ' || state from records.brands where state <> 'open'`,
      );
      found.push(...rows.map(({ what }) => `${name}: ${what}`));
      const open = await pool.query<{ brand_id: string }>("select brand_id from records.brands where state = 'open'");
      for (const { brand_id } of open.rows) homes.set(brand_id, (homes.get(brand_id) ?? 0) + 1);
      const strangers = await pool.query<{ brand_id: string }>(
        "select distinct brand_id from records.submissions s where not exists (select from records.brands b where b.brand_id = s.brand_id)",
      );
      found.push(...strangers.rows.map(({ brand_id }) => `${name}: records of ${brand_id}`));
    }
    return [...found, ...[...homes].filter(([, count]) => count !== 1).map(([brand, count]) => `${brand} is open in ${count} cells`)];
  }

  async stop(): Promise<void> {
    await this.#accounts?.end();
    for (const { pool, process, server } of this.all) {
      await pool.end();
      await process?.kill("SIGKILL");
      await server.stop();
    }
  }
}

const poolOf = (connectionString: string): pg.PoolConfig => ({
  connectionString,
  max: 20,
  application_name: "platform",
  connectionTimeoutMillis: 5_000,
});

/** A connection that cannot be opened, or breaks: whether the statement was committed is not known. */
function isAway(error: unknown): boolean {
  const { code = "", message } = error as { code?: string; message: string };
  return /^(57P|08|ECONN|EPIPE)/.test(code) || /^Connection terminated|connection error|timeout exceeded|^timeout expired/.test(message);
}
