import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isFound, migrate, openPool, type Database, type Sql } from "@brand-records/postgres";
import { newId } from "@brand-records/ids";
import { RESOURCE_NAMES } from "@brand-records/resources";
import { eventually } from "@brand-records/testkit";
import type pg from "pg";
import { sampleRecord } from "../../test/any-record.ts";
import { documentedWriter, type DocumentedWriter } from "../../test/documented-writer.ts";
import { deposit, submission } from "../../test/sample-records.ts";
import { callContext, CONNECTIONS, serveRecords, type ServedRecords } from "../../test/serve-records.ts";

/** What a database promises once it is a cell: docs/decisions/0032-cells.md. The first cell has no name, the other is "b". */

const SERVICE = join(import.meta.dirname, "../..");
const login = `login_${newId("x").slice(2)}`;

interface Cell {
  readonly served: ServedRecords;
  readonly db: Database;
  /** As a writer: a login with the role `platform`. */
  readonly platform: Database;
  readonly platformUrl: string;
}

let first: Cell;
let other: Cell;
/** Of the first cell. */
let brand: string;

async function openCell(): Promise<Cell> {
  const served = await serveRecords();
  await served.db.query(await readFile(join(SERVICE, "platform-role.sql"), "utf8"));
  const platformUrl = Object.assign(new URL(served.url), { username: login, password: "pw" }).href;
  return { served, db: served.db, platform: openPool({ url: platformUrl, applicationName: "platform", max: 4 }), platformUrl };
}

beforeAll(async () => {
  [first, other] = [await openCell(), await openCell()];
  await first.db.query(`create role ${login} login password 'pw' in role platform`);
});
afterAll(async () => {
  for (const { platform } of [first, other]) await platform.stop();
  await first.db.query(`drop role ${login}`);
  for (const { served } of [first, other]) await served.stop();
});

const letIn = ({ db }: Cell, ...brands: string[]): Promise<unknown> => db.query("select records.become_cell($1)", [brands]);

/** The statements of a move. */
const beginClosing = ({ db }: Cell, seconds: number): Promise<unknown> =>
  db.query(
    "update records.brands set state = 'closing', closing_until = clock_timestamp() + make_interval(secs => $2) where brand_id = $1 and state = 'open'",
    [brand, seconds],
  );
const CLOSE = "update records.brands set state = 'closed', closing_until = null, moved_to = $2 where brand_id = $1 and state = 'closing'";
const close = ({ db }: Cell, to: string): Promise<boolean> =>
  isFound(db.query(`${CLOSE} and closing_until > clock_timestamp() returning 1`, [brand, to]));
const stateIn = async ({ db }: Cell): Promise<string | undefined> =>
  (await db.query<{ state: string }>("select state from records.brands where brand_id = $1", [brand]))[0]?.state;

function insert(sql: Sql, row: object = deposit(), table = "deposits"): Promise<unknown> {
  const values = { brand_id: brand, ...row };
  const names = Object.keys(values);
  return sql.query(
    `insert into records.${table} (${names.join(", ")}) values (${names.map((_, index) => `$${index + 1}`).join(", ")})`,
    Object.values(values),
  );
}

const list = ({ served }: Cell, brandId = brand) => served.list(brandId, "deposits");
const MOVING = { kind: "brand_moving", retryAfterSeconds: 1 };
const movedTo = (cell: string) => ({ ...MOVING, details: [{ field: "cell", message: cell }] });

const untilWaiting = ({ db }: Cell): Promise<void> =>
  eventually(async () => {
    const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    expect(await db.query(waiting)).toHaveLength(1);
  });

it("before it is a cell, a database takes every brand, and no plan has anything of it", async () => {
  brand = newId("brd");
  await insert(first.platform);
  expect(await list(first)).toHaveLength(1);
  const plans = await first.db.query("explain select from records.deposits t where t.brand_id = 'brd_1' and records.is_here('brd_1')");
  expect(JSON.stringify(plans)).not.toMatch(/is_here|Result|One-Time/);
  const triggers = "select from pg_trigger where tgrelid = 'records.deposits'::regclass and tgname = 'deposits_cell'";
  expect(await first.db.query(triggers)).toEqual([]);
});

it("becomes none while a transaction writes, whose writers do not wait for it either", async () => {
  brand = newId("brd");
  await first.platform.transaction(async (sql) => {
    await insert(sql);
    await expect(letIn(first, brand)).rejects.toMatchObject({ kind: "timeout", cause: { code: "55P03" } });
    await insert(first.platform);
  });
  expect(await list(first)).toHaveLength(2);
});

it("from when it is a cell, it serves the brands that it was given, also over connections that have prepared their pages", async () => {
  brand = newId("brd");
  const elsewhere = newId("brd");
  // As many at a time as a brand has connections.
  const onEach = <T>(read: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: CONNECTIONS / 2 }, read));
  expect(new Set((await onEach(() => list(first))).flat())).toEqual(new Set());
  await letIn(first, brand);
  await letIn(other);
  await letIn(first, brand);
  expect(await list(first)).toEqual([]);
  await insert(first.platform);
  expect(await list(first)).toHaveLength(1);
  await onEach(() => expect(list(first, elsewhere)).rejects.toMatchObject(MOVING));
});

it("keeps a release that knows no cells from starting", async () => {
  const directory = await mkdtemp(join(tmpdir(), "migrations-"));
  for (const name of ["0001-records.sql", "0002-status-transitions.sql", "0003-outbox.sql"])
    await cp(join(SERVICE, "migrations", name), join(directory, name));
  await expect(migrate({ url: first.served.url, schema: "records", directory })).rejects.toThrow("does not work with this release");
  await rm(directory, { recursive: true });
});

describe("a brand", () => {
  beforeEach(async () => {
    brand = newId("brd");
    await letIn(first, brand);
  });

  /** Every way to read and write a brand's records. */
  async function expectRefused(cell: Cell, error: object): Promise<void> {
    const { served, platform } = cell;
    for (const resource of RESOURCE_NAMES) {
      await expect(served.list(brand, resource)).rejects.toMatchObject(error);
      await expect(insert(platform, sampleRecord(resource), resource)).rejects.toMatchObject(error);
      await expect(served.import(brand, [sampleRecord(resource)], { resource })).rejects.toMatchObject(error);
    }
    const filters = [{ status: "pending" }, { campaign_id: "cmp_1" }, { id: "sub_1" }, { campaign_id: "cmp_1", status: "pending" }];
    for (const given of filters)
      await expect(served.records.listSubmissions({ brand_id: brand, limit: 1, filters: given }, callContext())).rejects.toMatchObject(
        error,
      );
    await expect(served.operator.deleteBrandData({ brand_id: brand, outbox_after: 0 }, callContext())).rejects.toMatchObject(error);
  }

  it("is refused where it is not, whatever is asked", async () => {
    await expectRefused(other, { ...MOVING, details: undefined });
    // Replication is no writer: it brings the records before the brand is let in, and makes no event.
    await other.db.transaction(async (sql) => {
      await sql.query("set local session_replication_role = replica");
      await insert(sql);
    });
    await expect(list(other)).rejects.toMatchObject(MOVING);
    await letIn(other, brand);
    expect(await list(other)).toHaveLength(1);
  });

  it("that is closing is served, and its writers are refused: inserts, updates, upserts and imports", async () => {
    await insert(first.platform, submission({ id: "sub_1" }), "submissions");
    await beginClosing(first, 60);
    await expect(insert(first.platform, submission(), "submissions")).rejects.toMatchObject(MOVING);
    for (const statement of [
      "update records.submissions set status = 'approved' where brand_id = $1",
      "insert into records.submissions select * from records.submissions where brand_id = $1 on conflict (brand_id, id) do update set views = 0",
    ])
      await expect(first.platform.query(statement, [brand])).rejects.toMatchObject(MOVING);
    await expect(first.served.import(brand, [submission()], { resource: "submissions" })).rejects.toMatchObject(MOVING);
    expect(await first.served.list(brand, "submissions")).toMatchObject([{ id: "sub_1", status: "pending", views: 1_200 }]);
  });

  it("that is closed is refused with the name of the cell that has it", async () => {
    for (const cell of ["b", ""]) {
      await first.db.query("update records.brands set state = 'open', moved_to = null where brand_id = $1", [brand]);
      await beginClosing(first, 60);
      expect(await close(first, cell)).toBe(true);
      await expectRefused(first, movedTo(cell));
    }
  });

  it("is looked up once for many rows of a transaction, and for each brand", async () => {
    const rows = `insert into records.deposits
      select d.* from generate_series(1, 100) i, jsonb_populate_record(null::records.deposits, $1::jsonb || jsonb_build_object('id', 'dep_' || i)) d`;
    const callsOf = async (sql: Sql, brandId: string) => {
      const given = JSON.stringify({ ...deposit(), brand_id: brandId });
      const [row] = await sql.query<{ "QUERY PLAN": [{ Triggers: { "Trigger Name": string; Calls: number }[] }] }>(
        `explain (analyze, format json) ${rows}`,
        [given],
      );
      return row?.["QUERY PLAN"][0].Triggers.find((trigger) => trigger["Trigger Name"] === "deposits_cell")?.Calls ?? 0;
    };
    const second = newId("brd");
    await letIn(first, second);
    await first.db.transaction(async (sql) => {
      expect([await callsOf(sql, brand), await callsOf(sql, second)]).toEqual([1, 1]);
    });
  });
});

describe("a writer", () => {
  beforeEach(async () => {
    brand = newId("brd");
    await letIn(first, brand);
  });

  it("whose transaction was admitted before the closing was committed goes on, and whoever closes can wait for it", async () => {
    const xid = async (of: string) => BigInt((await first.db.query<{ xid: string }>(`select ${of}::text as xid`))[0]?.xid ?? "");
    const oldest = () => xid("pg_snapshot_xmin(pg_current_snapshot())");
    let barrier = 0n;
    await first.platform.transaction(async (sql) => {
      await first.db.transaction(async (closing) => {
        await beginClosing({ ...first, db: { ...first.db, ...closing } }, 60);
        // Its number is above that of the closing: the end of a snapshot after that may be no higher.
        await insert(sql);
      });
      barrier = await xid("pg_current_xact_id()");
      expect((await oldest()) < barrier).toBe(true);
      await insert(sql);
    });
    await eventually(async () => expect((await oldest()) >= barrier).toBe(true));
    expect(await list(first)).toHaveLength(2);
    await expect(insert(first.platform)).rejects.toMatchObject(MOVING);
  });

  it.each(["repeatable read", "serializable"])("whose snapshot is from before the closing is refused as a conflict: %s", async (level) => {
    const writing = first.platform.transaction(async (sql) => {
      await sql.query(`set transaction isolation level ${level}`);
      await sql.query("select from records.deposits limit 1");
      await beginClosing(first, 60);
      await insert(sql);
    });
    await expect(writing).rejects.toMatchObject({ code: "40001" });
    expect(await list(first)).toEqual([]);
  });

  it("that comes after the time opens the brand again, and then it cannot be closed, whatever a clock shows", async () => {
    await beginClosing(first, 0);
    const closing = Promise.withResolvers<boolean>();
    await first.platform.transaction(async (sql) => {
      await insert(sql);
      closing.resolve(isFound(first.db.query(`${CLOSE} returning 1`, [brand, "b"])));
      await untilWaiting(first);
    });
    expect([await closing.promise, await stateIn(first)]).toEqual([false, "open"]);
    await insert(first.platform);
    expect(await list(first)).toHaveLength(2);
  });

  it("that comes after the time, while the brand is being closed, waits and is refused", async () => {
    await beginClosing(first, 0);
    let writing: Promise<unknown> = Promise.resolve();
    await first.db.transaction(async (sql) => {
      await sql.query(CLOSE, [brand, "b"]);
      writing = insert(first.platform);
      writing.catch(() => {});
      await untilWaiting(first);
    });
    await expect(writing).rejects.toMatchObject(movedTo("b"));
    expect([await close(first, "b"), await stateIn(first)]).toEqual([false, "closed"]);
  });
});

describe("docs/platform.md", () => {
  let inCellOf: DocumentedWriter["inCellOf"];
  let pools: Record<string, pg.Pool>;
  /** What accounts says. */
  let named: string;
  const accounts = { query: async () => ({ rows: [{ cell: named }] }) };

  beforeAll(async () => {
    const writer = await documentedWriter();
    inCellOf = writer.inCellOf;
    const open = ({ platformUrl: connectionString }: Cell) => writer.openCellPool({ connectionString });
    pools = { "": open(first), b: open(other) };
  });
  afterAll(() => Promise.all(Object.values(pools).map((pool) => pool.end())));
  beforeEach(async () => {
    [brand, named] = [newId("brd"), ""];
    await letIn(first, brand);
  });

  const write = () =>
    inCellOf(accounts, pools, brand, (client) =>
      insert({
        query: async <Row>(text: unknown, values?: unknown) => (await client.query(text as string, values as unknown[])).rows as Row[],
      }),
    );

  it("has code that writes where accounts says, waits while the brand is closing, and follows it", async () => {
    await write();
    await beginClosing(first, 60);
    const waiting = write();
    await letIn(other, brand);
    expect(await close(first, "b")).toBe(true);
    named = "b";
    await waiting;
    await write();
    expect([
      (await list(other)).length,
      (await first.db.query("select from records.deposits where brand_id = $1", [brand])).length,
    ]).toEqual([2, 1]);
  });

  it("has code that follows the cell's own answer if accounts was not told", async () => {
    await letIn(other, brand);
    await beginClosing(first, 60);
    await close(first, "b");
    await write();
    expect(await list(other)).toHaveLength(1);
  });

  it("has code that repeats an update that finds no row, as the brand and its records leave before it", async () => {
    await letIn(other, brand);
    const databases: unknown[] = [];
    await inCellOf(accounts, pools, brand, async (sql) => {
      databases.push(...(await sql.query("select current_database() as name")).rows);
      for (const table of ["deposits", "brands"]) await first.db.query(`delete from records.${table} where brand_id = $1`, [brand]);
      named = "b";
      await sql.query("update records.deposits set amount_centavos = 2 where brand_id = $1", [brand]);
    });
    const at = async ({ db }: Cell) => (await db.query("select current_database() as name"))[0];
    expect(databases).toEqual([await at(first), await at(other)]);
  });

  it("has code that writes in the place where it was once the closing has lapsed", async () => {
    await beginClosing(first, 0.2);
    await write();
    expect([await stateIn(first), (await list(first)).length]).toEqual(["open", 1]);
  });
});
