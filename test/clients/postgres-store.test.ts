import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { createDatabase, eventually, type TestDatabase } from "@brand-records/testkit";
import { Pool } from "pg";
import { endPool } from "./end-pool.ts";

/** One promise: a program with the store of examples/sync/postgres-store.js survives a lost connection. */

const EVENT = {
  id: "evt_1",
  type: "payout.reversed",
  created_at: "2026-11-21T08:30:00.000Z",
  brand_id: "brd_1",
  test: false,
  dashboard_url: "",
  data: { resource: "payouts", id: "po_1", status: "reversed", updated_at: "2026-11-21T08:30:00.000Z" },
};

/** Applies an event twice, and prints how each ended. */
const PROGRAM = `
  import { Pool } from "pg";
  import { PostgresStore } from "./examples/sync/postgres-store.js";
  const pool = new Pool({ connectionString: process.argv[1], max: 1, application_name: "copy" });
  pool.on("error", () => {});
  const store = await PostgresStore.open(pool);
  const apply = () => store.applyEvent(${JSON.stringify(EVENT)}).catch((error) => error.message);
  console.log(await apply());
  console.log(await apply());
  await pool.end();`;

let database: TestDatabase;
let pool: Pool;
let child: ChildProcessWithoutNullStreams | undefined;
beforeEach(async () => {
  database = await createDatabase("empty");
  pool = new Pool({ connectionString: database.url });
});
afterEach(async () => {
  child?.kill("SIGKILL");
  await endPool(pool);
  await database.drop();
});

/** Ends the connection of the store that waits for the row. */
const terminateWaiting = async (): Promise<void> => {
  const { rows } = await pool.query(
    `select pg_terminate_backend(pid) as terminated from pg_stat_activity
     where application_name = 'copy' and wait_event_type = 'Lock' and query like '%for update'`,
  );
  expect(rows).toEqual([{ terminated: true }]);
};

it("reports a connection that is lost within a transaction, and goes on with another", async () => {
  const { PostgresStore } = jest.requireActual<{ PostgresStore: { open(pool: Pool): Promise<unknown> } }>(
    "../../examples/sync/postgres-store.js",
  );
  await PostgresStore.open(pool);
  await pool.query("insert into brand_copy.state (brand_id) values ('brd_1')");
  const held = await pool.connect();
  await held.query("begin; select brand_id from brand_copy.state for update");
  child = spawn(process.execPath, ["--input-type=module", "--eval", PROGRAM, database.url]);
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  try {
    await eventually(terminateWaiting);
  } finally {
    await held.query("commit");
    held.release();
  }
  const [stdout, stderr, [code]] = await ended;
  expect({ stdout, stderr, code }).toEqual({
    stdout: "terminating connection due to administrator command\nfalse\n",
    stderr: "",
    code: 0,
  });
});
