import { join } from "node:path";
import { newId } from "@brand-records/ids";
import { Lifecycle } from "@brand-records/lifecycle";
import { migrate, openPool, type Database } from "@brand-records/postgres";
import { openLog } from "@brand-records/telemetry";
import { createDatabase } from "@brand-records/testkit";
import { parseConfig } from "../../../services/records/src/config.ts";
import { startRecords } from "../../../services/records/src/start.ts";
import { context, startProduct } from "../../test/product.ts";
import { failing, type Outcome } from "../../test/test-terminal.ts";

/** One promise: brandctl finds a brand in its cell, whatever the command, and tells cells from what accounts names. */

const SAMPLES = join(process.cwd(), "test/samples");
const product = startProduct();
const life = new Lifecycle(openLog("test", "silent"));
let other: Database;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  const database = await createDatabase("cell", async (url) => {
    await migrate({ url, schema: "records", directory: join("services", "records", "migrations") });
  });
  life.own("database", { stop: () => database.drop() });
  other = life.own("pool", openPool({ url: database.url, applicationName: "brandctl test" }));
  const settings = { DATABASE_URL: database.url, RPC_PORT: "0", ADMIN_PORT: "0", RPC_OPERATOR_WITHOUT_TLS: "true" };
  const { rpc_port: port } = await startRecords(parseConfig(settings), life, openLog("test", "silent"));
  life.markReady();
  env = {
    ...product.env,
    RECORDS_ADDRESS: product.recordsAddress,
    RECORDS_CELLS: `b=127.0.0.1:${port}`,
    RECORDS_DATABASE_URL: product.databaseUrl,
    RECORDS_CELL_DATABASES: `b=${database.url}`,
    PLATFORM_DATABASE_URL: product.databaseUrl,
  };
});
afterAll(() => life.stop());

const run = (line: string, changed: NodeJS.ProcessEnv = {}): Promise<Outcome> => product.run(line, { env: { ...env, ...changed } });
async function create(options = "", changed: NodeJS.ProcessEnv = {}): Promise<string> {
  const outcome = await run(`brands create --name Ulap --tier plus --verified --json ${options}`.trim(), changed);
  expect(outcome).toMatchObject({ code: 0 });
  return outcome.json<{ brand: { id: string } }>().brand.id;
}
const statesIn = async (db: Database, id: string): Promise<string[]> =>
  (await db.query<{ state: string }>("select state from records.brands where brand_id = $1", [id])).map(({ state }) => state);
const countIn = async (db: Database, id: string): Promise<number> =>
  (await db.query<{ n: number }>("select count(*)::int as n from records.submissions where brand_id = $1", [id]))[0]?.n ?? -1;
const importInto = (id: string): Promise<Outcome> =>
  run(`records import --brand ${id} --resource submissions ${SAMPLES}/submissions.ndjson`);

describe("brands create", () => {
  it("makes a cell of the only database with the first brand of another, and lets brands into it from then on", async () => {
    const first = await create();
    await create("--cell b");
    const second = await create();
    expect([await statesIn(product.db, first), await statesIn(product.db, second)]).toEqual([["open"], ["open"]]);
  });

  it("lets a brand into the cell that it is made for, and says in the list where it is", async () => {
    const id = await create("--cell b");
    expect([await statesIn(other, id), await statesIn(product.db, id)]).toEqual([["open"], []]);
    expect((await run("brands list")).stdout).toMatch(new RegExp(`CELL.*\\n(.*\\n)*${id}.* b`));
    // Repeated, and for another cell: it stays.
    expect(await create(`--cell b --id ${id}`)).toBe(id);
    expect(await run(`brands create --name Ulap --tier plus --verified --id ${id}`)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("was left unchanged"),
    });
    expect(await statesIn(product.db, id)).toEqual([]);
  });

  it("names the brand that its cell could not let in, for the same command again", async () => {
    const away = { RECORDS_CELL_DATABASES: "b=postgres://owner@127.0.0.1:1/records" };
    const { code, stderr } = await run("brands create --name Ulap --tier plus --verified --cell b", away);
    const [, id = ""] = /The brand (brd_\w+) exists: the same command with --id brd_\w+ lets it in/.exec(stderr) ?? [];
    expect([code, await statesIn(other, id)]).toEqual([1, []]);
    await create(`--cell b --id ${id}`);
    expect(await statesIn(other, id)).toEqual(["open"]);
  });

  it.each([
    ["--cell c", {}, "The database of the cell c is not known: set RECORDS_CELL_DATABASES."],
    ["", { RECORDS_DATABASE_URL: "" }, "The database of the cell without a name is not known: set RECORDS_DATABASE_URL."],
    ["--cell B", { RECORDS_CELL_DATABASES: "B=postgres://x" }, "RECORDS_CELL_DATABASES: must be name=postgres://…"],
    ["", { RECORDS_CELLS: "b", RECORDS_DATABASE_URL: "", RECORDS_CELL_DATABASES: "" }, "RECORDS_CELLS: must be name=host:port"],
  ])("makes none for what it cannot let the brand into: %s %j", async (options, changed, message) => {
    const id = newId("brd");
    const line = `brands create --name Ulap --tier plus --id ${id} ${options}`.trim();
    expect(await run(line, changed)).toMatchObject(failing(1, message));
    expect(await product.db.query("select from accounts.brands where id = $1", [id])).toEqual([]);
  });
});

it("imports, generates and changes records in the brand's cell", async () => {
  const [here, there] = [await create(), await create("--cell b")];
  for (const id of [here, there]) expect(await importInto(id)).toMatchObject({ code: 0 });
  const counts = async (id: string) => [(await countIn(product.db, id)) > 0, (await countIn(other, id)) > 0];
  expect([await counts(here), await counts(there)]).toEqual([
    [true, false],
    [false, true],
  ]);
  expect(await run(`records generate --brand ${there} --resource links --links 3 --import`)).toMatchObject({ code: 0 });
  expect(await other.query("select from records.links where brand_id = $1", [there])).toHaveLength(3);

  const [pending] = await other.query<{ id: string }>("select id from records.submissions where brand_id = $1 and status = 'pending'", [
    there,
  ]);
  const change = `records set-status submission ${pending?.id} approved --brand ${there}`;
  expect(await run(`${change} --platform-database-url ${product.databaseUrl}`)).toMatchObject(failing(1, "does not have a submission"));
  expect(await run(change)).toMatchObject({ code: 0, stdout: expect.stringContaining("submission.approved") });
  expect(await other.query("select from records.outbox where payload->>'brand_id' = $1", [there])).toHaveLength(1);
});

it("refuses an import into a cell whose address it does not know", async () => {
  const id = await create("--cell b");
  const outcome = await run(`records import --brand ${id} --resource submissions ${SAMPLES}/submissions.ndjson`, { RECORDS_CELLS: "" });
  expect(outcome).toMatchObject(failing(1, "The address of records in the cell b is not known"));
});

describe("brands delete", () => {
  beforeEach(() => {
    product.intercepts.set("accounts.beginBrandDeletion", async (_, forward) => {
      const begun = (await forward()) as object;
      await product.db.query("update accounts.audit_entries set created_at = created_at - interval '2 minutes'");
      return { ...begun, settles_in_ms: 20, quiet_ms: 20 };
    });
  });
  const remove = (id: string, changed: NodeJS.ProcessEnv = {}): Promise<Outcome> =>
    run(`brands delete ${id} --confirm Ulap --yes`, changed);

  it("deletes the records and the row of the brand in its cell, and looks in all cells once it is deleted", async () => {
    const id = await create("--cell b");
    await importInto(id);
    expect(await remove(id)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ {2}\d+ submissions$/m) });
    expect([await countIn(other, id), await statesIn(other, id)]).toEqual([0, []]);
    expect(await run(`brands delete ${id}`)).toMatchObject({ code: 0, stdout: expect.stringContaining("This run found nothing.") });
    // A cell that was restored has the brand again.
    await other.query("select records.become_cell($1)", [[id]]);
    await other.query(
      `insert into records.submissions select (jsonb_populate_record(s, jsonb_build_object('brand_id', $1::text))).*
         from records.submissions s where brand_id <> $1 limit 1`,
      [id],
    );
    expect(await run(`brands delete ${id}`)).toMatchObject({ code: 0, stdout: expect.stringContaining("  1 submissions") });
    expect([await countIn(other, id), await statesIn(other, id)]).toEqual([0, []]);
  });

  it("begins no deletion of a brand in a cell that it does not know, and finishes none that the cell refuses", async () => {
    const id = await create("--cell b");
    expect(await remove(id, { RECORDS_CELLS: "" })).toMatchObject(failing(1, "Nothing was deleted. The address of records in the cell b"));
    expect((await product.accounts.getBrand({ brand_id: id }, context())).brand).toMatchObject({ id });
    await other.query("delete from records.brands where brand_id = $1", [id]);
    expect(await remove(id)).toMatchObject(failing(1, "are being moved, or are in another cell"));
    expect(await product.db.query("select from accounts.brands where id = $1", [id])).toHaveLength(1);
  });
});

describe("doctor", () => {
  interface Check {
    readonly name: string;
    readonly state: string;
    readonly detail: string;
  }
  const checks = async (changed: NodeJS.ProcessEnv = {}): Promise<Check[]> =>
    (await run("doctor --wait 0 --json", changed)).json<{ checks: Check[] }>().checks.filter(({ name }) => /cells|records in/.test(name));
  const compared = async (changed: NodeJS.ProcessEnv = {}): Promise<Check | undefined> =>
    (await checks(changed)).find(({ name }) => name === "brands of cells");

  beforeEach(async () => {
    // Brands of the tests above, of which some were left as a restore leaves them.
    for (const db of [product.db, other]) await db.query("delete from records.brands");
    await other.query("select records.become_cell($1)", [await idsIn("b")]);
    await product.db.query("select records.become_cell(array(select id from accounts.brands where cell is null))");
  });
  const idsIn = async (cell: string): Promise<string[]> =>
    (await product.db.query<{ id: string }>("select id from accounts.brands where cell = $1", [cell])).map(({ id }) => id);

  it("checks each cell, and finds brands where accounts names them", async () => {
    expect(await checks()).toMatchObject([
      { name: "records in b, gRPC", state: "ok" },
      { name: "brands of cells", state: "ok" },
    ]);
    const none = { RECORDS_CELLS: "", RECORDS_DATABASE_URL: "", RECORDS_CELL_DATABASES: "" };
    expect(await checks(none)).toEqual([]);
  });

  it("names a brand that a restored cell still has, one that it lacks, one that accounts lacks, and no brand that moves", async () => {
    const [kept, lost, moving] = [await create(), await create("--cell b"), await create()];
    await other.query("select records.become_cell($1)", [[kept, moving, "brd_gone"]]);
    await other.query("delete from records.brands where brand_id = $1", [lost]);
    await product.db.query("update records.brands set state = 'closing', closing_until = now() where brand_id = $1", [moving]);
    const check = await compared();
    expect(check?.state).toBe("degraded");
    const texts = [
      `${kept} is open in the cell b, and accounts names the cell without a name`,
      `${lost} is not in the cell b, and accounts names the cell b`,
      "brd_gone is open in the cell b, and accounts has no such brand",
    ];
    expect(check?.detail.split("; ").toSorted()).toEqual(texts.toSorted());
  });

  it("names a cell whose database it does not know, or that it cannot reach", async () => {
    expect(await compared({ RECORDS_CELL_DATABASES: "" })).toMatchObject({
      state: "degraded",
      detail: expect.stringContaining("the database of the cell b is not known"),
    });
    expect(await compared({ RECORDS_CELL_DATABASES: "b=postgres://x@127.0.0.1:1/x" })).toMatchObject({ state: "failed" });
  });
});
