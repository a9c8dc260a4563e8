import { eventually, startKafkaServer, type KafkaServer, type ServiceProcess } from "@brand-records/testkit";
import { callContext, type Stack } from "../stack.ts";
import { metric, startLedgerRig, type LedgerRig } from "./ledger-rig.ts";

/**
 * One promise: whatever is killed, frozen or replaced on the way, and however receivers behave, every change of a status is
 * one event that reaches each receiver that selected it, in the order of each record.
 */

const CHANGES = 20_000;
/** One after each of the faults below, and the last without a fault. */
const ROUNDS = 11;
const FREEZE_MS = 20_000;

let kafka: KafkaServer;
let rig: LedgerRig;
let stack: Stack;
/** Beside the stack's own. */
const others = new Set<ServiceProcess>();
const seen: string[] = [];

beforeAll(async () => {
  kafka = await startKafkaServer();
  rig = await startLedgerRig({ brokers: kafka.brokers, changes: CHANGES, rounds: ROUNDS, brands: 25 });
  ({ stack } = rig);
}, 120_000);
afterAll(async () => {
  await Promise.all([...others].map((process) => process.kill("SIGKILL")));
  await rig.stop();
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
  await rig.write();
  await rig.caughtUp();
  await rig.allDelivered();
  expect(await rig.ledger.audit()).toEqual([]);
  expect(rig.ledger.duplicates()).toBe(0);
}, 180_000);

it("records killed between commit and publication", async () => {
  const { records } = stack.processes;
  process.kill(records.pid, "SIGSTOP");
  await rig.write();
  expect(await rig.count("records.outbox")).toBeGreaterThan(0);
  await records.kill("SIGKILL");
  await stack.restart("records");
  await rig.caughtUp();
}, 120_000);

it("records killed between publication and removal: the events come again, and make nothing new", async () => {
  const repeatedBefore = await metric(stack.processes.webhook, "intake_repeated_total");
  await rig.withClosedGate("removal", async () => {
    const writing = rig.write();
    await eventually(async () => expect(await rig.waitingAtGate("removal")).toBeGreaterThan(0));
    await writing;
    await stack.processes.records.kill("SIGKILL");
    // Before it gets through the gate: Postgres looks for its client every second.
    const relays = "select from pg_stat_activity where datname = current_database() and application_name = 'records outbox relay'";
    await eventually(async () => expect(await rig.ledger.db.query(relays)).toEqual([]));
  });
  await stack.restart("records");
  await rig.caughtUp();
  await eventually(async () => expect(await metric(stack.processes.webhook, "intake_repeated_total")).toBeGreaterThan(repeatedBefore));
  seen.push(`repeated after a kill before removal: ${(await metric(stack.processes.webhook, "intake_repeated_total")) - repeatedBefore}`);
}, 120_000);

it("the lead of the relay goes from a frozen process to another, which keeps it when the first thaws", async () => {
  const second = await startAnother("records");
  expect(await metric(second, "outbox_leads")).toBe(0);
  const { records: first } = stack.processes;
  expect(await metric(first, "outbox_leads")).toBe(1);
  process.kill(first.pid, "SIGSTOP");
  const writing = rig.write();
  await eventually(async () => expect(await metric(second, "outbox_leads")).toBe(1), { timeoutMs: 30_000 });
  process.kill(first.pid, "SIGCONT");
  await writing;
  await rig.caughtUp();
  await eventually(async () => expect([await metric(first, "outbox_leads"), await metric(second, "outbox_leads")]).toEqual([0, 1]));
  await end(second, "SIGTERM");
  await eventually(async () => expect(await metric(first, "outbox_leads")).toBe(1), { timeoutMs: 30_000 });
}, 120_000);

it("the broker frozen for 20 s", async () => {
  await kafka.freeze();
  const frozenAt = performance.now();
  await rig.write();
  await eventually(() => expect(performance.now() - frozenAt).toBeGreaterThan(FREEZE_MS), { timeoutMs: FREEZE_MS + 5_000 });
  expect(await rig.count("records.outbox")).toBeGreaterThan(0);
  await kafka.thaw();
  await rig.caughtUp();
}, 120_000);

it("the broker killed and started again, and everything serves meanwhile", async () => {
  await kafka.kill();
  await rig.write();
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
  await rig.caughtUp();
}, 120_000);

it("webhook killed between its commit and that of the offsets: the messages come again, and make nothing new", async () => {
  let before = 0;
  await rig.withClosedGate("intake", async () => {
    await rig.write();
    await eventually(async () => expect(await rig.waitingAtGate("intake")).toBeGreaterThan(0));
    // From here on no offset can be committed: a frozen broker would read the request when it thaws.
    await kafka.kill();
    before = await rig.count("webhook.events");
  });
  await eventually(async () => expect(await rig.count("webhook.events")).toBeGreaterThan(before));
  await stack.processes.webhook.kill("SIGKILL");
  await kafka.start();
  await stack.restart("webhook");
  await rig.caughtUp();
  await eventually(async () => expect(await metric(stack.processes.webhook, "intake_repeated_total")).toBeGreaterThan(0));
  seen.push(`repeated after a kill before the offsets: ${await metric(stack.processes.webhook, "intake_repeated_total")}`);
}, 120_000);

it("consumers from one to three and back to one, the others killed", async () => {
  const [second, third] = [await startAnother("webhook"), await startAnother("webhook")];
  const taken = (process: ServiceProcess) => metric(process, "intake_events_total");
  const writing = rig.write();
  await writing;
  await eventually(
    async () => {
      await rig.ledger.write(rig.ledger.changes + 10);
      expect(Math.min(await taken(second), await taken(third), await taken(stack.processes.webhook))).toBeGreaterThan(0);
    },
    { timeoutMs: 30_000, everyMs: 200 },
  );
  await end(second, "SIGKILL");
  await rig.write();
  await end(third, "SIGTERM");
  await rig.caughtUp();
}, 120_000);

it("a worker killed in the middle of its requests", async () => {
  const writing = rig.write();
  await eventually(() => expect(rig.farm.hanging).toBeGreaterThan(0), { everyMs: 1 });
  await stack.processes.webhook.kill("SIGKILL");
  await writing;
  await stack.restart("webhook");
  await rig.caughtUp();
}, 120_000);

it("every connection to Postgres terminated, three times", async () => {
  const writing = rig.write();
  for (let time = 0; time < 3; time += 1) {
    const arrivals = rig.farm.arrivals.length;
    await rig.ledger.db.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name <> 'platform'",
    );
    await eventually(() => expect(rig.farm.arrivals.length).toBeGreaterThan(arrivals));
  }
  await writing;
  await rig.caughtUp();
}, 120_000);

it("in the end every change has one event that reached its receivers, in order, and nothing is left over", async () => {
  await rig.write();
  await rig.caughtUp();
  await rig.allDelivered();
  expect(await rig.problems()).toEqual([]);
  await eventually(async () => expect(await metric(stack.processes.webhook, "intake_lag_messages")).toBe(0), { timeoutMs: 30_000 });
  seen.push(
    `${rig.farm.arrivals.length} requests`,
    `${rig.ledger.duplicates()} accepted twice, by workers that died or lost their database after sending`,
  );
  process.stdout.write(`${rig.ledger.changes} changes, as many events; ${seen.join("; ")}\n`);
}, 180_000);
