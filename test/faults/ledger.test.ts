import { eventually } from "@brand-records/testkit";
import { startLedgerHarness, type LedgerHarness } from "./ledger-harness.ts";

/** The promise of ledger.full.test.ts in half a minute: fewer changes, and only the faults that leave the broker alone. */

const CHANGES = 400;

let harness: LedgerHarness;
beforeAll(async () => {
  const brokers = process.env["TEST_KAFKA_BROKERS"];
  if (brokers === undefined) throw new Error("TEST_KAFKA_BROKERS is not set: jest's global setup starts a Kafka and sets it");
  harness = await startLedgerHarness({ brokers, changes: CHANGES, rounds: 4, brands: 5 });
}, 60_000);
afterAll(() => harness.stop());

it("delivers every change once and in order while records, webhook and every connection are killed", async () => {
  const { stack, ledger, receivers } = harness;
  await harness.write();
  await harness.untilCaughtUp();

  process.kill(stack.processes.records.pid, "SIGSTOP");
  await harness.write();
  await stack.processes.records.kill("SIGKILL");
  await stack.restart("records");

  const writing = harness.write();
  await eventually(() => expect(receivers.hanging).toBeGreaterThan(0), { everyMs: 1 });
  await stack.processes.webhook.kill("SIGKILL");
  await writing;
  await stack.restart("webhook");

  const last = harness.write();
  await ledger.db.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name <> 'platform'",
  );
  await harness.untilMoreArrive();
  await last;
  await harness.untilCaughtUp();
  await harness.untilDelivered();
  expect(await harness.problems()).toEqual([]);
}, 120_000);
