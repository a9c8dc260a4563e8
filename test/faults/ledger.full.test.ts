import { eventually, startKafkaServer, type KafkaServer, type ServiceProcess } from "@brand-records/testkit";
import { metricOf, readinessOf } from "../admin-port.ts";
import { callContext, type Stack } from "../stack.ts";
import { startLedgerHarness, type LedgerHarness } from "./ledger-harness.ts";

/**
 * One promise: every status change becomes one event, which reaches each receiver that selected it, in the order of each
 * record's changes, whatever process is killed, frozen or replaced and however receivers behave.
 */

const CHANGES = 10_000;
const FREEZE_MS = 20_000;

let kafka: KafkaServer;
let harness: LedgerHarness;
let stack: Stack;
/** Processes in addition to the stack's own. */
const extraProcesses = new Set<ServiceProcess>();
const findings: string[] = [];

beforeAll(async () => {
  kafka = await startKafkaServer();
  harness = await startLedgerHarness({ brokers: kafka.brokers, changes: CHANGES, rounds: Object.keys(FAULTS).length + 2, brands: 25 });
  ({ stack } = harness);
});
afterAll(async () => {
  await Promise.all([...extraProcesses].map((process) => process.kill("SIGKILL")));
  await harness.stop();
  await kafka.stop();
});

async function startAnother(service: "records" | "webhook"): Promise<ServiceProcess> {
  const process = await stack.startAnother(service);
  extraProcesses.add(process);
  return process;
}

async function end(process: ServiceProcess, signal: NodeJS.Signals): Promise<void> {
  extraProcesses.delete(process);
  await process.kill(signal);
}

/** Each writes a round of changes, lets something fail meanwhile, and waits until webhook has every event. The order is that of the run. */
const FAULTS: Readonly<Record<string, () => Promise<void>>> = {
  async "publishes events of a records process killed between commit and publication"() {
    const { records } = stack.processes;
    process.kill(records.pid, "SIGSTOP");
    await harness.write();
    expect(await harness.count("records.outbox")).toBeGreaterThan(0);
    await records.kill("SIGKILL");
    await stack.restart("records");
    await harness.untilCaughtUp();
  },

  async "ignores the events published again by a records process killed between publication and removal"() {
    const repeatedBefore = await metricOf(stack.processes.webhook, "intake_repeated_total");
    await harness.withClosedGate("removal", async () => {
      const writing = harness.write();
      await eventually(async () => expect(await harness.waitingAtGate("removal")).toBeGreaterThan(0));
      await writing;
      await stack.processes.records.kill("SIGKILL");
      // The gate must stay closed until Postgres ends the session: it checks for its client every second.
      const relays = "select from pg_stat_activity where datname = current_database() and application_name = 'records outbox relay'";
      await eventually(async () => expect(await harness.ledger.db.query(relays)).toEqual([]));
    });
    await stack.restart("records");
    await harness.untilCaughtUp();
    await eventually(async () => expect(await metricOf(stack.processes.webhook, "intake_repeated_total")).toBeGreaterThan(repeatedBefore));
    findings.push(
      `repeated after a kill before removal: ${(await metricOf(stack.processes.webhook, "intake_repeated_total")) - repeatedBefore}`,
    );
  },

  async "moves the relay's lead from a frozen process to another, which keeps it after the thaw"() {
    const second = await startAnother("records");
    expect(await metricOf(second, "outbox_leads")).toBe(0);
    const { records: first } = stack.processes;
    expect(await metricOf(first, "outbox_leads")).toBe(1);
    process.kill(first.pid, "SIGSTOP");
    const writing = harness.write();
    await eventually(async () => expect(await metricOf(second, "outbox_leads")).toBe(1), { timeoutMs: 30_000 });
    process.kill(first.pid, "SIGCONT");
    await writing;
    await harness.untilCaughtUp();
    await eventually(async () => expect([await metricOf(first, "outbox_leads"), await metricOf(second, "outbox_leads")]).toEqual([0, 1]));
    await end(second, "SIGTERM");
    await eventually(async () => expect(await metricOf(first, "outbox_leads")).toBe(1), { timeoutMs: 30_000 });
  },

  async "keeps events in the outbox while the broker is frozen for 20 s"() {
    await kafka.freeze();
    const frozenAt = performance.now();
    await harness.write();
    await eventually(() => expect(performance.now() - frozenAt).toBeGreaterThan(FREEZE_MS), { timeoutMs: FREEZE_MS + 5_000 });
    expect(await harness.count("records.outbox")).toBeGreaterThan(0);
    await kafka.thaw();
    await harness.untilCaughtUp();
  },

  async "serves while the broker is killed, and delivers once it is started again"() {
    await kafka.kill();
    await harness.write();
    const { records } = stack.processes;
    await eventually(async () => expect(await readinessOf(records)).toEqual({ status: "ready", degraded: ["event log"] }), {
      timeoutMs: 30_000,
    });
    await stack.records.listLinks({ brand_id: "brd_none", limit: 1, cursor: null, since: null }, callContext());
    await stack.receivers.listReceivers({ brand_id: "brd_none" }, callContext());
    await kafka.start();
    await harness.untilCaughtUp();
  },

  async "ignores the messages read again after webhook is killed between its commit and that of the offsets"() {
    let before = 0;
    await harness.withClosedGate("intake", async () => {
      await harness.write();
      await eventually(async () => expect(await harness.waitingAtGate("intake")).toBeGreaterThan(0));
      // Killed, not frozen: a frozen broker would commit the offsets after its thaw.
      await kafka.kill();
      before = await harness.count("webhook.events");
    });
    await eventually(async () => expect(await harness.count("webhook.events")).toBeGreaterThan(before));
    await stack.processes.webhook.kill("SIGKILL");
    await kafka.start();
    await stack.restart("webhook");
    await harness.untilCaughtUp();
    await eventually(async () => expect(await metricOf(stack.processes.webhook, "intake_repeated_total")).toBeGreaterThan(0));
    findings.push(`repeated after a kill before the offsets: ${await metricOf(stack.processes.webhook, "intake_repeated_total")}`);
  },

  async "delivers every change while webhook grows from one consumer to three and shrinks to one"() {
    const [second, third] = [await startAnother("webhook"), await startAnother("webhook")];
    const eventsTaken = (process: ServiceProcess) => metricOf(process, "intake_events_total");
    const writing = harness.write();
    await writing;
    await eventually(
      async () => {
        await harness.ledger.write(harness.ledger.changes + 10);
        expect(Math.min(await eventsTaken(second), await eventsTaken(third), await eventsTaken(stack.processes.webhook))).toBeGreaterThan(
          0,
        );
      },
      { timeoutMs: 30_000, everyMs: 200 },
    );
    await end(second, "SIGKILL");
    await harness.write();
    await end(third, "SIGTERM");
    await harness.untilCaughtUp();
  },

  async "sends again what a worker was sending when it was killed"() {
    const writing = harness.write();
    await eventually(() => expect(harness.receivers.hanging).toBeGreaterThan(0), { everyMs: 1 });
    await stack.processes.webhook.kill("SIGKILL");
    await writing;
    await stack.restart("webhook");
    await harness.untilCaughtUp();
  },

  async "delivers every change while every connection to Postgres is terminated, three times"() {
    const writing = harness.write();
    for (let time = 0; time < 3; time += 1) {
      await harness.ledger.db.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name <> 'platform'",
      );
      await harness.untilMoreArrive();
    }
    await writing;
    await harness.untilCaughtUp();
  },
};

it("delivers every change once and in order, through one fault after another", async () => {
  await harness.write();
  await harness.untilCaughtUp();
  await harness.untilDelivered();
  expect(await harness.ledger.audit()).toEqual([]);
  expect(harness.ledger.duplicates()).toEqual([]);

  for (const [guarantee, letFail] of Object.entries(FAULTS)) {
    await letFail().catch((error: unknown) => {
      throw new Error(`it no longer holds that the system ${guarantee}`, { cause: error });
    });
  }

  await harness.write();
  await harness.untilCaughtUp();
  await harness.untilDelivered();
  expect(await harness.problems()).toEqual([]);
  await eventually(async () => expect(await metricOf(stack.processes.webhook, "intake_lag_messages")).toBe(0), { timeoutMs: 30_000 });
  findings.push(
    `${harness.receivers.arrivals.length} requests`,
    `${harness.ledger.duplicates().length} accepted twice, by workers that died or lost their database after sending`,
  );
  process.stdout.write(`${harness.ledger.changes} changes and events; ${findings.join("; ")}\n`);
  // Each wait has its own bound.
}, 1_500_000);
