import { eventually, startKafkaServer, type KafkaServer, type ServiceProcess } from "@brand-records/testkit";
import { callContext, type Stack } from "../stack.ts";
import { metric, startLedgerHarness, type LedgerHarness } from "./ledger-harness.ts";

/**
 * One promise: whatever is killed, frozen or replaced on the way, and however receivers behave, every change of a status is
 * one event that reaches each receiver that selected it, in the order of each record.
 */

const CHANGES = 20_000;
/** One after each of the faults below, and the last without a fault. */
const ROUNDS = 11;
const FREEZE_MS = 20_000;

let kafka: KafkaServer;
let harness: LedgerHarness;
let stack: Stack;
/** Beside the stack's own. */
const others = new Set<ServiceProcess>();
const seen: string[] = [];

beforeAll(async () => {
  kafka = await startKafkaServer();
  harness = await startLedgerHarness({ brokers: kafka.brokers, changes: CHANGES, rounds: ROUNDS, brands: 25 });
  ({ stack } = harness);
}, 120_000);
afterAll(async () => {
  await Promise.all([...others].map((process) => process.kill("SIGKILL")));
  await harness.stop();
  await kafka.stop();
});

async function startAnother(service: "records" | "webhook"): Promise<ServiceProcess> {
  const process = await stack.startAnother(service);
  others.add(process);
  return process;
}

async function end(process: ServiceProcess, signal: NodeJS.Signals): Promise<void> {
  others.delete(process);
  await process.kill(signal);
}

it("keeps its books with nothing amiss", async () => {
  await harness.write();
  await harness.caughtUp();
  await harness.allDelivered();
  expect(await harness.ledger.audit()).toEqual([]);
  expect(harness.ledger.duplicates()).toBe(0);
}, 180_000);

it("records killed between commit and publication", async () => {
  const { records } = stack.processes;
  process.kill(records.pid, "SIGSTOP");
  await harness.write();
  expect(await harness.count("records.outbox")).toBeGreaterThan(0);
  await records.kill("SIGKILL");
  await stack.restart("records");
  await harness.caughtUp();
}, 120_000);

it("records killed between publication and removal: the events come again, and make nothing new", async () => {
  const repeatedBefore = await metric(stack.processes.webhook, "intake_repeated_total");
  await harness.withClosedGate("removal", async () => {
    const writing = harness.write();
    await eventually(async () => expect(await harness.waitingAtGate("removal")).toBeGreaterThan(0));
    await writing;
    await stack.processes.records.kill("SIGKILL");
    // Before it gets through the gate: Postgres looks for its client every second.
    const relays = "select from pg_stat_activity where datname = current_database() and application_name = 'records outbox relay'";
    await eventually(async () => expect(await harness.ledger.db.query(relays)).toEqual([]));
  });
  await stack.restart("records");
  await harness.caughtUp();
  await eventually(async () => expect(await metric(stack.processes.webhook, "intake_repeated_total")).toBeGreaterThan(repeatedBefore));
  seen.push(`repeated after a kill before removal: ${(await metric(stack.processes.webhook, "intake_repeated_total")) - repeatedBefore}`);
}, 120_000);

it("the lead of the relay goes from a frozen process to another, which keeps it when the first thaws", async () => {
  const second = await startAnother("records");
  expect(await metric(second, "outbox_leads")).toBe(0);
  const { records: first } = stack.processes;
  expect(await metric(first, "outbox_leads")).toBe(1);
  process.kill(first.pid, "SIGSTOP");
  const writing = harness.write();
  await eventually(async () => expect(await metric(second, "outbox_leads")).toBe(1), { timeoutMs: 30_000 });
  process.kill(first.pid, "SIGCONT");
  await writing;
  await harness.caughtUp();
  await eventually(async () => expect([await metric(first, "outbox_leads"), await metric(second, "outbox_leads")]).toEqual([0, 1]));
  await end(second, "SIGTERM");
  await eventually(async () => expect(await metric(first, "outbox_leads")).toBe(1), { timeoutMs: 30_000 });
}, 120_000);

it("the broker frozen for 20 s", async () => {
  await kafka.freeze();
  const frozenAt = performance.now();
  await harness.write();
  await eventually(() => expect(performance.now() - frozenAt).toBeGreaterThan(FREEZE_MS), { timeoutMs: FREEZE_MS + 5_000 });
  expect(await harness.count("records.outbox")).toBeGreaterThan(0);
  await kafka.thaw();
  await harness.caughtUp();
}, 120_000);

it("the broker killed and started again, and everything serves meanwhile", async () => {
  await kafka.kill();
  await harness.write();
  const { records } = stack.processes;
  const { admin_port } = records.ready as { admin_port: number };
  await eventually(
    async () =>
      expect(await (await fetch(`http://127.0.0.1:${admin_port}/readyz`)).json()).toEqual({ status: "ready", degraded: ["event log"] }),
    { timeoutMs: 30_000 },
  );
  await stack.records.listLinks({ brand_id: "brd_none", limit: 1, cursor: null, since: null }, callContext());
  await stack.receivers.listReceivers({ brand_id: "brd_none" }, callContext());
  await kafka.start();
  await harness.caughtUp();
}, 120_000);

it("webhook killed between its commit and that of the offsets: the messages come again, and make nothing new", async () => {
  let before = 0;
  await harness.withClosedGate("intake", async () => {
    await harness.write();
    await eventually(async () => expect(await harness.waitingAtGate("intake")).toBeGreaterThan(0));
    // From here on no offset can be committed: a frozen broker would read the request when it thaws.
    await kafka.kill();
    before = await harness.count("webhook.events");
  });
  await eventually(async () => expect(await harness.count("webhook.events")).toBeGreaterThan(before));
  await stack.processes.webhook.kill("SIGKILL");
  await kafka.start();
  await stack.restart("webhook");
  await harness.caughtUp();
  await eventually(async () => expect(await metric(stack.processes.webhook, "intake_repeated_total")).toBeGreaterThan(0));
  seen.push(`repeated after a kill before the offsets: ${await metric(stack.processes.webhook, "intake_repeated_total")}`);
}, 120_000);

it("consumers from one to three and back to one, the others killed", async () => {
  const [second, third] = [await startAnother("webhook"), await startAnother("webhook")];
  const taken = (process: ServiceProcess) => metric(process, "intake_events_total");
  const writing = harness.write();
  await writing;
  await eventually(
    async () => {
      await harness.ledger.write(harness.ledger.changes + 10);
      expect(Math.min(await taken(second), await taken(third), await taken(stack.processes.webhook))).toBeGreaterThan(0);
    },
    { timeoutMs: 30_000, everyMs: 200 },
  );
  await end(second, "SIGKILL");
  await harness.write();
  await end(third, "SIGTERM");
  await harness.caughtUp();
}, 120_000);

it("a worker killed in the middle of its requests", async () => {
  const writing = harness.write();
  await eventually(() => expect(harness.receivers.hanging).toBeGreaterThan(0), { everyMs: 1 });
  await stack.processes.webhook.kill("SIGKILL");
  await writing;
  await stack.restart("webhook");
  await harness.caughtUp();
}, 120_000);

it("every connection to Postgres terminated, three times", async () => {
  const writing = harness.write();
  for (let time = 0; time < 3; time += 1) {
    const arrivals = harness.receivers.arrivals.length;
    await harness.ledger.db.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name <> 'platform'",
    );
    await eventually(() => expect(harness.receivers.arrivals.length).toBeGreaterThan(arrivals));
  }
  await writing;
  await harness.caughtUp();
}, 120_000);

it("in the end every change has one event that reached its receivers, in order, and nothing is left over", async () => {
  await harness.write();
  await harness.caughtUp();
  await harness.allDelivered();
  expect(await harness.problems()).toEqual([]);
  await eventually(async () => expect(await metric(stack.processes.webhook, "intake_lag_messages")).toBe(0), { timeoutMs: 30_000 });
  seen.push(
    `${harness.receivers.arrivals.length} requests`,
    `${harness.ledger.duplicates()} accepted twice, by workers that died or lost their database after sending`,
  );
  process.stdout.write(`${harness.ledger.changes} changes, as many events; ${seen.join("; ")}\n`);
}, 180_000);
