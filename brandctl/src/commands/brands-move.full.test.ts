import { createServer, connect, type AddressInfo, type Server, type Socket } from "node:net";
import { newId } from "@brand-records/ids";
import { migrate, openPool, type Database } from "@brand-records/postgres";
import { RESOURCE_NAMES } from "@brand-records/resources";
import { createDatabase, eventually, startPostgresServer, type PostgresServer } from "@brand-records/testkit";
import { context as callContext, startProduct, type TestBrand } from "../../test/product.ts";
import { Recorder, type Outcome } from "../../test/test-terminal.ts";

/** One promise: a brand moves whole, and whatever dies at whichever statement, a further run ends the move or takes it back, and leaves nothing. */

const SETTINGS = {
  wal_level: "logical",
  wal_retrieve_retry_interval: "100ms",
  log_statement: "all",
  log_min_duration_statement: "0",
};
const RECORDS = 30;
/** `MOVE_RECORDS=300000` before `npx jest brands-move --selectProjects full -t "takes along"` measures a large brand. */
const MORE_RECORDS = Number(process.env["MOVE_RECORDS"] ?? 2_000);

const { ensureBackingServices } = jest.requireActual<{ ensureBackingServices(name: string): Promise<ReadonlyMap<string, string>> }>(
  "../../../test/setup/ensure-backing-services.ts",
);
const product = startProduct();
let brand: TestBrand;

interface Cell {
  readonly server: PostgresServer;
  readonly db: Database;
  readonly cut: CuttingProxy;
}
/** The one without a name, on the newest Postgres, and "b", on the oldest. */
let first: Cell;
let other: Cell;

/** Leads to a server, and ends every connection at a statement: before the server gets it, or before its answer arrives. As if the mover were killed. */
class CuttingProxy {
  pattern: RegExp | undefined;
  when: "before" | "after" = "before";
  hasCut = false;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  readonly #port: number;

  constructor(url: string) {
    this.#port = Number(new URL(url).port);
    this.#server = createServer((socket) => this.#forward(socket));
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  #forward(mover: Socket): void {
    const server = connect(this.#port, "127.0.0.1");
    let isLast = false;
    for (const socket of [mover, server]) {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => [mover, server].forEach((each) => each.destroy()));
    }
    mover.on("data", (data) => {
      isLast = this.pattern?.test(data.toString("latin1")) === true;
      if (isLast && this.when === "before") this.cutAll();
      else server.write(data);
    });
    server.on("data", (data) => {
      if (isLast) this.cutAll();
      else mover.write(data);
    });
  }

  /** The other cell's too. */
  cutAll(): void {
    for (const { cut } of [first, other]) {
      cut.hasCut = true;
      for (const socket of cut.#sockets) socket.destroy();
      cut.#sockets.clear();
    }
  }

  stop(): void {
    this.#server.close();
  }
}

/** By both servers, which log every statement. */
const logged: string[] = [];

async function migrateRecords(url: string): Promise<void> {
  await migrate({ url, schema: "records", directory: "services/records/migrations" });
}

async function openCell(options: { readonly binDir?: string } = {}): Promise<Cell & { readonly url: string }> {
  const server = await startPostgresServer({ ...options, settings: SETTINGS, log: (line) => void logged.push(line) });
  await migrateRecords(server.url);
  const cut = new CuttingProxy(server.url);
  const url = Object.assign(new URL(server.url), { port: String(await cut.listen()) }).href;
  return { server, cut, db: openPool({ url: server.url, applicationName: "test", max: 2 }), url };
}

let env: NodeJS.ProcessEnv;
beforeAll(async () => {
  const binDir = (await ensureBackingServices("postgres")).get("POSTGRES_BIN") ?? "";
  const [one, two] = await Promise.all([openCell(), openCell({ binDir })]);
  [first, other] = [one, two];
  env = { ...product.env, RECORDS_DATABASE_URL: one.url, RECORDS_CELL_DATABASES: `b=${two.url}` };
});
afterAll(async () => {
  for (const { db, server, cut } of [first, other]) {
    cut.stop();
    await db.stop();
    await server.stop();
  }
});

beforeEach(async () => {
  brand = await product.createBrand();
  for (const { cut } of [first, other]) Object.assign(cut, { pattern: undefined, hasCut: false });
  if ((await isCell(first)) && (await isCell(other))) await first.db.query("select records.become_cell($1)", [[brand.id]]);
  for (let index = 0; index < RECORDS; index += 1) await write(first);
});

const isCell = async ({ db }: Cell): Promise<boolean> => (await db.query("select from pg_trigger where tgname = 'links_cell'")).length > 0;

const INSERT = `insert into records.deposits (brand_id, id, created_at, updated_at, status, amount_centavos, refunded_centavos, currency, method)
                values ($1, $2, now(), now(), 'pending', 1, 0, 'PHP', 'gcash')`;
const write = ({ db }: Cell): Promise<unknown> => db.query(INSERT, [brand.id, newId("dep")]);
const move = (...args: string[]): Promise<Outcome> => product.run(["brands", "move", brand.id, ...args, "--json"], { env });

const rowsIn = async ({ db }: Cell): Promise<number> => {
  const counts = RESOURCE_NAMES.map((table) => `(select count(*) from records.${table} where brand_id = $1)`);
  return (await db.query<{ n: number }>(`select ${counts.join(" + ")} as n`, [brand.id]))[0]?.n ?? 0;
};
const LEFT = `select slot_name as left from pg_replication_slots union all select pubname from pg_publication union all select subname from pg_subscription`;
const stateOf = async ({ db }: Cell) => ({
  left: await db.query(LEFT),
  brands: await db.query("select state from records.brands where brand_id = $1", [brand.id]),
});

/** The brand is in this cell and no other, which has nothing of it, and nothing of the move is left. */
async function expectIn(cell: Cell, rows: number): Promise<void> {
  const elsewhere = cell === first ? other : first;
  expect(await stateOf(cell)).toEqual({ left: [], brands: [{ state: "open" }] });
  expect(await stateOf(elsewhere)).toEqual({ left: [], brands: [] });
  expect([await rowsIn(cell), await rowsIn(elsewhere)]).toEqual([rows, 0]);
  expect((await product.accounts.getBrand({ brand_id: brand.id }, callContext())).brand?.cell).toBe(cell === first ? null : "b");
  expect((await product.run("brands moves --json")).json()).toEqual({ moves: [] });
}

it("moves the records, also back, says how long writers were refused, and writes two entries into the audit log", async () => {
  // The databases become cells, which waits for what another brand's transaction has written: its own writers wait for neither.
  const held = first.db.transaction(async (sql) => {
    await sql.query(INSERT, ["brd_other", newId("dep")]);
    await eventually(() => expect(logged.join("\n")).toContain("canceling statement due to lock timeout"), { timeoutMs: 30_000 });
  });
  const { code, json } = await move("--to", "b");
  await held;
  expect({ code, json: json() }).toEqual({
    code: 0,
    json: { moved: { brand_id: brand.id, from_cell: "", to_cell: "b", records: RECORDS, closed_ms: expect.any(Number) } },
  });
  await expectIn(other, RECORDS);
  await write(other);
  expect((await move("--to", "")).code).toBe(0);
  await expectIn(first, RECORDS + 1);
  const { stdout } = await product.run(["audit", "list", "--brand", brand.id, "--json"]);
  expect(stdout.match(/brand\.(begin_move|set_cell)/g)).toHaveLength(4);
});

it("takes along what is written meanwhile, and refuses writers for as long as it says", async () => {
  await first.db.transaction(
    (sql) =>
      sql.query(
        `insert into records.conversions
         select $1, 'cnv_' || n, now() - n * interval '1 s', now(), 'cmp_1', 'lnk_1', 'crt_1', null, 'pending', 'order ' || n, 100, 10, 'PHP', now(), null
           from generate_series(1, $2::int) n`,
        [brand.id, MORE_RECORDS],
      ),
    { statementTimeoutMs: 600_000 },
  );
  let [written, isMoving, refused, refusedAt, refusedMs] = [0, true, 0, Infinity, 0];
  const writing = (async () => {
    for (let cell = first; isMoving;) {
      await write(cell).then(
        () => {
          written += 1;
          refusedMs = Math.max(refusedMs, performance.now() - refusedAt);
          refusedAt = Infinity;
        },
        (error: { details?: { message: string }[] }) => {
          refused += 1;
          refusedAt = Math.min(refusedAt, performance.now());
          if (error.details?.[0]?.message === "b") cell = other;
        },
      );
      // As fast as one writer of a busy brand, not as the machine allows.
      if (MORE_RECORDS > 2_000) await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  const startedAt = performance.now();
  const { code, json } = await move("--to", "b");
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  isMoving = false;
  await writing;
  if (MORE_RECORDS > 2_000) process.stdout.write(`${JSON.stringify({ records: MORE_RECORDS, seconds, refusedMs, ...json<object>() })}\n`);
  expect(code).toBe(0);
  expect(refused).toBeGreaterThan(0);
  expect(refusedMs).toBeLessThan(5_500);
  await expectIn(other, MORE_RECORDS + RECORDS + written);
});

/** Statements of a move, in their order, and whether the brand can stay where it is after it was cut there. */
const STATEMENTS: readonly [cell: "source" | "target", pattern: RegExp, canAbort: boolean][] = [
  ["target", /delete from records\.brands/, true],
  ["source", /create publication/, true],
  ["source", /pg_create_logical_replication_slot/, true],
  ["target", /create subscription/, true],
  ["target", /pg_stat_progress_copy/, true],
  ["target", /hashtextextended\(t::text/, true],
  ["source", /set state = 'closing'/, true],
  ["source", /pg_current_xact_id/, true],
  ["target", /become_cell/, true],
  ["source", /set state = 'closed'/, true],
  ["target", / disable/, false],
  ["source", /pg_drop_replication_slot/, false],
  ["source", /drop publication/, false],
  ["target", /slot_name = none/, false],
  ["target", /drop subscription/, false],
  ["source", /delete from records\.deposits/, false],
  ["source", /delete from records\.brands/, false],
];
const CUTS = STATEMENTS.flatMap(([cell, pattern, canAbort]) =>
  (["before", "after"] as const).map((when) => ({ cell, pattern, canAbort, when })),
);

async function moveUntil({ cell, pattern, when }: (typeof CUTS)[number]): Promise<void> {
  const { cut } = cell === "source" ? first : other;
  Object.assign(cut, { pattern, when });
  const { code, stderr } = await move("--to", "b");
  expect({ code, hasCut: cut.hasCut, stderr }).toEqual({ code: 1, hasCut: true, stderr: expect.stringContaining("--resume") });
  cut.pattern = undefined;
}

/** As docs/platform.md says: in the cell that accounts names, else in the one that the refusal names. */
async function writeWhereItIs(): Promise<void> {
  const { brand: named } = await product.accounts.getBrand({ brand_id: brand.id }, callContext());
  const cell = named?.cell === "b" ? other : first;
  await write(cell).catch((error: { details?: { message: string }[] }) => {
    const detail = error.details?.[0]?.message;
    if (detail === undefined) throw error;
    return write(detail === "b" ? other : first);
  });
}

it.each(CUTS)("goes on after it was killed $when the $cell has done $pattern", async (cut) => {
  await moveUntil(cut);
  // The bound, and a second for a busy machine.
  await eventually(writeWhereItIs, { timeoutMs: 6_000 });
  expect(await move("--resume")).toMatchObject({ code: 0 });
  await expectIn(other, RECORDS + 1);
});

it.each(CUTS.filter(({ canAbort }) => canAbort))("takes back what was killed $when the $cell has done $pattern", async (cut) => {
  await moveUntil(cut);
  const isClosed = (await first.db.query("select from records.brands where brand_id = $1 and state = 'closed'", [brand.id])).length > 0;
  expect(isClosed).toBe(cut.when === "after" && String(cut.pattern).includes("'closed'"));
  expect(await move("--abort")).toMatchObject({ code: isClosed ? 1 : 0 });
  if (isClosed) expect(await move("--resume")).toMatchObject({ code: 0 });
  await writeWhereItIs();
  await expectIn(isClosed ? other : first, RECORDS + 1);
});

it.each(["--resume", "--abort"])("ends with %s after the source was killed, and the target, also while it is away", async (option) => {
  const cut = CUTS.find(({ pattern, when }) => String(pattern).includes("become_cell") && when === "after");
  await moveUntil(cut as (typeof CUTS)[number]);
  await first.server.kill();
  expect(await move(option)).toMatchObject({ code: 1, stderr: expect.stringContaining("The database of the cell without a name") });
  await first.server.start();
  await other.server.kill();
  expect(await move(option)).toMatchObject({ code: 1, stderr: expect.stringContaining("The database of the cell b") });
  if (option === "--abort") expect(await stateOf(first)).toEqual({ left: [], brands: [{ state: "open" }] });
  await eventually(() => write(first), { timeoutMs: 6_000 });
  await other.server.start();
  expect(await move(option)).toMatchObject({ code: 0 });
  await expectIn(option === "--resume" ? other : first, RECORDS + 1);
});

it("goes by where the move stands when it has the cells to itself: another process has taken it back meanwhile", async () => {
  await moveUntil(CUTS[2] as (typeof CUTS)[number]);
  product.intercepts.set("accounts.listBrandMoves", async (_, forward) => {
    const found = await forward();
    product.intercepts.delete("accounts.listBrandMoves");
    expect(await move("--abort")).toMatchObject({ code: 0 });
    return found;
  });
  expect(await move("--resume")).toMatchObject({ code: 1, stderr: expect.stringContaining("Another process has moved the brand") });
  await expectIn(first, RECORDS);
});

it("ends a move that accounts has forgotten to have ended, as it was restored", async () => {
  expect(await move("--to", "b")).toMatchObject({ code: 0 });
  await product.db.query("update accounts.brands set cell = null where id = $1", [brand.id]);
  await product.db.query("insert into accounts.brand_moves (brand_id, to_cell) values ($1, 'b')", [brand.id]);
  expect(await move("--abort")).toMatchObject({ code: 1, stderr: expect.stringContaining("in the cell b already") });
  expect(await move("--resume")).toMatchObject({ code: 0 });
  await expectIn(other, RECORDS);
});

it("copies again into a cell that was restored meanwhile, rather than into the tables that were put aside", async () => {
  const cut = CUTS.find(({ pattern, when }) => String(pattern).includes("'closing'") && when === "before");
  await moveUntil(cut as (typeof CUTS)[number]);
  await other.db.query("alter schema records rename to records_before");
  await migrateRecords(other.server.url);
  expect(await move("--resume")).toMatchObject({ code: 0 });
  await expectIn(other, RECORDS);
  await other.db.query("drop schema records_before cascade");
});

it("keeps what was written in the new cell if the old one was restored to before it was closed", async () => {
  const cut = CUTS.find(({ pattern, when }) => String(pattern).includes("'closed'") && when === "after");
  await moveUntil(cut as (typeof CUTS)[number]);
  await write(other);
  await first.db.query("update records.brands set state = 'open', moved_to = null where brand_id = $1", [brand.id]);
  const expectKept = async (text: string): Promise<void> => {
    for (const option of ["--resume", "--abort"])
      expect(await move(option)).toMatchObject({ code: 1, stderr: expect.stringContaining(text) });
  };
  await expectKept("The deposits differ");
  await other.db.query(`alter subscription move_${brand.id} disable`);
  await expectKept("was written in the cell b after");
  expect(await rowsIn(other)).toBe(RECORDS + 1);
  await first.db.query("update records.brands set state = 'closed', moved_to = 'b' where brand_id = $1", [brand.id]);
  expect(await move("--resume")).toMatchObject({ code: 0 });
  await expectIn(other, RECORDS + 1);
});

it("takes back a move that began before the cells were cells", async () => {
  const [source, target] = [await createDatabase("records_cell", migrateRecords), await createDatabase("records_cell", migrateRecords)];
  const fresh = { ...env, RECORDS_DATABASE_URL: source.url, RECORDS_CELL_DATABASES: `b=${target.url}` };
  await product.db.query("insert into accounts.brand_moves (brand_id, to_cell) values ($1, 'b')", [brand.id]);
  expect(await product.run(["brands", "move", brand.id, "--abort"], { env: fresh })).toMatchObject({ code: 0 });
  expect((await product.run("brands moves --json")).json()).toEqual({ moves: [] });
  await source.drop();
  await target.drop();
});

it("ends at once if the slot was dropped, and copies again when it goes on", async () => {
  const stderr = new Recorder(false);
  await first.db.query(EVENT, [JSON.stringify({ brand_id: brand.id, created_at: new Date(Date.now() - 5_000).toISOString() })]);
  const moving = product.run(["brands", "move", brand.id, "--to", "b"], { env, stderr });
  await eventually(() => expect(stderr.text).toContain("Waiting for transactions"), { timeoutMs: 30_000 });
  await other.db.query(`alter subscription move_${brand.id} disable`);
  const drop = "select pg_drop_replication_slot(slot_name) from pg_replication_slots where not active";
  await eventually(async () => expect(await first.db.query(drop)).toHaveLength(1));
  await first.db.query("delete from records.outbox");
  expect(await moving).toMatchObject({ code: 1, stderr: expect.stringContaining("keeps no changes for the move any more") });
  expect(await move("--resume")).toMatchObject({ code: 0 });
  await expectIn(other, RECORDS);
});

const EVENT =
  "insert into records.outbox (id, aggregatetype, aggregateid, type, payload) values ('evt_1', 'payout', 'po_1', 'payout.paid', $1)";

it.each([
  ["does not close the brand while the relay is behind", 0, "are in step"],
  ["opens the brand again where it was if an event stays in the outbox", 3_600_000, "open again where it was"],
])("%s, and ends the move once it is not", async (_, aheadMs, text) => {
  const event = { brand_id: brand.id, created_at: new Date(Date.now() + aheadMs).toISOString() };
  await first.db.query(EVENT, [JSON.stringify(event)]);
  const stderr = new Recorder(false);
  const moving = product.run(["brands", "move", brand.id, "--to", "b"], { env, stderr });
  await eventually(() => expect(stderr.text).toContain(text), { timeoutMs: 30_000 });
  await eventually(() => write(first), { timeoutMs: 6_000 });
  await first.db.query("delete from records.outbox");
  expect((await moving).code).toBe(0);
  await expectIn(other, RECORDS + 1);
});

it("refuses two movers of one brand, a second move, and a brand that is there already, and changes nothing", async () => {
  const lock = "pg_advisory_xact_lock(hashtextextended($1, 0))";
  await first.db.transaction(async (sql) => {
    await sql.query(`select ${lock}`, [`move ${brand.id}`]);
    expect(await move("--to", "b")).toMatchObject({ code: 1, stderr: expect.stringContaining("another process moves this brand") });
  });
  for (const [args, code] of [
    [["--to", ""], 1],
    [["--to", "c"], 1],
    [["--to", "C"], 2],
    [["--resume"], 1],
    [["--abort"], 1],
    [[], 2],
    [["--to", "b", "--abort"], 2],
  ] as const)
    expect(await move(...args)).toMatchObject({ code });
  await expectIn(first, RECORDS);
  await product.run(["brands", "move", brand.id, "--to", "b"], { env: { ...env, RECORDS_CELL_DATABASES: "" } });
  await moveUntil(CUTS[2] as (typeof CUTS)[number]);
  expect(await move("--to", "b")).toMatchObject({ code: 1, stderr: expect.stringContaining("is being moved already") });
  expect(await move("--abort")).toMatchObject({ code: 0 });
});

it("lists why a cell is not ready, before anything is changed", async () => {
  const database = await createDatabase("records_cell", migrateRecords);
  await first.db.query(EVENT, [JSON.stringify({ brand_id: "brd_1", created_at: "2026-11-21T08:30:00Z" })]);
  const { code, stderr } = await product.run(["brands", "move", brand.id, "--to", "b"], { env });
  await first.db.query("delete from records.outbox");
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining("the cell without a name: its outbox is behind: does its relay run?"),
  });
  const swapped = { ...env, RECORDS_DATABASE_URL: database.url };
  const replica = await product.run(["brands", "move", brand.id, "--to", "b"], { env: swapped });
  expect(replica.stderr).toContain("the cell without a name: wal_level is not logical");
  await database.drop();
  await expectIn(first, RECORDS);
});

it("writes no password into a server's log", () => {
  const log = logged.join("\n");
  expect(log).toContain("insert into records.deposits");
  for (const { server } of [first, other]) expect(log).not.toContain(new URL(server.url).password);
});
