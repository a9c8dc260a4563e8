import { eventually } from "@brand-records/testkit";
import { startLedgerRig, type LedgerRig } from "./ledger-rig.ts";

/** The promise of ledger.full.test.ts in half a minute: fewer changes, and the faults that need no broker of their own. */

const CHANGES = 400;

let rig: LedgerRig;
beforeAll(async () => {
  const brokers = process.env["TEST_KAFKA_BROKERS"];
  if (brokers === undefined) throw new Error("TEST_KAFKA_BROKERS is not set: jest's global setup starts a Kafka and sets it");
  rig = await startLedgerRig({ brokers, changes: CHANGES, rounds: 4, brands: 5 });
}, 60_000);
afterAll(() => rig.stop());

it("every change reaches its receivers once and in order, with records, webhook and every connection killed on the way", async () => {
  const { stack, ledger, farm } = rig;
  await rig.write();
  await rig.caughtUp();

  process.kill(stack.processes.records.pid, "SIGSTOP");
  await rig.write();
  await stack.processes.records.kill("SIGKILL");
  await stack.restart("records");

  const writing = rig.write();
  await eventually(() => expect(farm.hanging).toBeGreaterThan(0), { everyMs: 1 });
  await stack.processes.webhook.kill("SIGKILL");
  await writing;
  await stack.restart("webhook");

  const arrivals = farm.arrivals.length;
  const last = rig.write();
  await ledger.db.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name <> 'platform'",
  );
  await eventually(() => expect(farm.arrivals.length).toBeGreaterThan(arrivals));
  await last;
  await rig.caughtUp();
  await rig.allDelivered();
  expect(await rig.problems()).toEqual([]);
}, 120_000);
