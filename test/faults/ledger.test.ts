import { eventually, startKafkaServer, type KafkaServer, type ServiceProcess } from "@brand-records/testkit";
import { Ledger } from "../ledger.ts";
import { ANSWERS, startReceiverFarm, type ReceiverFarm } from "../receiver-farm.ts";
import { callContext, startStack, type Stack } from "../stack.ts";

/**
 * One promise: whatever is killed, frozen or replaced on the way, and however receivers behave, every change of a status is
 * one event that reaches each receiver that selected it, in the order of each record. LEDGER_CHANGES sets how many;
 * `npm run test:ledger` takes 20,000.
 */

const CHANGES = Number(process.env["LEDGER_CHANGES"] ?? 2_000);
/** One after each of the faults below, and the last of them in peace. */
const ROUNDS = 11;
const PER_ROUND = Math.ceil(CHANGES / ROUNDS);
const FREEZE_MS = 20_000;

/** Pauses after failed attempts: nine of them, as in production, but short. */
const RETRY_DELAYS_SECONDS = "0.2,0.2,0.4,0.4,0.8,0.8,1,1,1";
/** A third of the first attempts goes wrong, in every way there is; the sixth never does. */
const WRONG = 0.3;
const WRONG_ATTEMPTS_MAX = 5;

let kafka: KafkaServer;
let farm: ReceiverFarm;
let stack: Stack;
let ledger: Ledger;
/** Beside the stack's own. */
const others = new Set<ServiceProcess>();
const seen: string[] = [];

beforeAll(async () => {
  kafka = await startKafkaServer();
  farm = await startReceiverFarm((_, attempt) => {
    if (attempt > WRONG_ATTEMPTS_MAX || Math.random() > WRONG) return "accepted";
    return ANSWERS[Math.floor(Math.random() * ANSWERS.length)] ?? "accepted";
  });
  stack = await startStack({
    kafkaBrokers: kafka.brokers,
    env: { LOG_LEVEL: "info", RECEIVERS_ON_LOOPBACK: "true", DELIVERY_DEADLINE_MS: "1000", RETRY_DELAYS_SECONDS },
  });
  ledger = new Ledger(stack, farm, {
    brands: 25,
    recordsPerBrand: Math.max(20, CHANGES / 50),
    receiversPerBrand: 2,
    changesPerSecond: CHANGES / 10,
  });
  await ledger.prepare(stack);
  await makeGates();
}, 120_000);
afterAll(async () => {
  await Promise.all([...others].map((process) => process.kill("SIGKILL")));
  await ledger.stop();
  await stack.stop();
  await farm.stop();
  await kafka.stop();
});

/**
 * Two places where a test can hold a process at a known statement: with an advisory lock that triggers of the test's own
 * database wait for.
 */
async function makeGates(): Promise<void> {
  await ledger.db.query(`
    create function public.wait_at_gate() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock_shared(tg_argv[0]::bigint); return null; end $$;
    create trigger gate before delete on records.outbox for each statement execute function public.wait_at_gate(${GATES.removal});
    create trigger gate before insert on webhook.deliveries for each statement execute function public.wait_at_gate(${GATES.intake});
    grant execute on function public.wait_at_gate to public`);
}

const GATES = { removal: 71, intake: 72 } as const;

/** Runs `work` while nobody gets through the gate. */
async function withClosedGate(gate: keyof typeof GATES, work: () => Promise<void>): Promise<void> {
  await ledger.db.transaction(async (sql) => {
    await sql.query("set local idle_in_transaction_session_timeout = 0");
    await sql.query("select pg_advisory_xact_lock($1)", [GATES[gate]]);
    await work();
  });
}

const waitingAtGate = async (gate: keyof typeof GATES): Promise<number> => {
  const rows = await ledger.db.query("select from pg_locks where locktype = 'advisory' and objid = $1 and not granted", [GATES[gate]]);
  return rows.length;
};

const count = async (table: string): Promise<number> => {
  const [row] = await ledger.db.query<{ n: number }>(`select count(*) as n from ${table}`);
  return row?.n ?? 0;
};

async function metric(process: ServiceProcess, name: string): Promise<number> {
  const { admin_port } = process.ready as { admin_port: number };
  const text = await (await fetch(`http://127.0.0.1:${admin_port}/metrics`)).text();
  return Number(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN);
}

async function startAnother(service: "records" | "webhook"): Promise<ServiceProcess> {
  const process = await stack.startAnother(service);
  others.add(process);
  return process;
}

async function end(process: ServiceProcess, signal: NodeJS.Signals): Promise<void> {
  others.delete(process);
  await process.kill(signal);
}

const write = (): Promise<void> => ledger.write(ledger.changes + PER_ROUND);
const caughtUp = async (timeoutMs = 60_000): Promise<void> => {
  await eventually(
    async () =>
      expect({ events: await count("webhook.events"), waiting: await count("records.outbox") }).toEqual({
        events: ledger.changes,
        waiting: 0,
      }),
    { timeoutMs, everyMs: 100 },
  );
};

const allDelivered = async (): Promise<void> => {
  // What a killed worker had is sent again once its lease has ended.
  await eventually(async () => expect(await count("webhook.deliveries")).toBe(0), { timeoutMs: 120_000, everyMs: 200 });
};

it("keeps its books with nothing amiss", async () => {
  await write();
  await caughtUp();
  await allDelivered();
  expect(await ledger.audit()).toEqual([]);
  expect(ledger.duplicates()).toBe(0);
}, 180_000);

it("records killed between commit and publication", async () => {
  const { records } = stack.processes;
  process.kill(records.pid, "SIGSTOP");
  await write();
  expect(await count("records.outbox")).toBeGreaterThan(0);
  await records.kill("SIGKILL");
  await stack.restart("records");
  await caughtUp();
}, 120_000);

it("records killed between publication and removal: the events come again, and make nothing new", async () => {
  const repeatedBefore = await metric(stack.processes.webhook, "intake_repeated_total");
  await withClosedGate("removal", async () => {
    const writing = write();
    await eventually(async () => expect(await waitingAtGate("removal")).toBeGreaterThan(0));
    await writing;
    await stack.processes.records.kill("SIGKILL");
    // Before it gets through the gate: Postgres looks for its client every second.
    const relays = "select from pg_stat_activity where datname = current_database() and application_name = 'records outbox relay'";
    await eventually(async () => expect(await ledger.db.query(relays)).toEqual([]));
  });
  await stack.restart("records");
  await caughtUp();
  await eventually(async () => expect(await metric(stack.processes.webhook, "intake_repeated_total")).toBeGreaterThan(repeatedBefore));
  seen.push(`repeated after a kill before removal: ${(await metric(stack.processes.webhook, "intake_repeated_total")) - repeatedBefore}`);
}, 120_000);

it("the lead of the relay goes from a frozen process to another, which keeps it when the first thaws", async () => {
  const second = await startAnother("records");
  expect(await metric(second, "outbox_leads")).toBe(0);
  const { records: first } = stack.processes;
  expect(await metric(first, "outbox_leads")).toBe(1);
  process.kill(first.pid, "SIGSTOP");
  const writing = write();
  await eventually(async () => expect(await metric(second, "outbox_leads")).toBe(1), { timeoutMs: 30_000 });
  process.kill(first.pid, "SIGCONT");
  await writing;
  await caughtUp();
  await eventually(async () => expect([await metric(first, "outbox_leads"), await metric(second, "outbox_leads")]).toEqual([0, 1]));
  await end(second, "SIGTERM");
  await eventually(async () => expect(await metric(first, "outbox_leads")).toBe(1), { timeoutMs: 30_000 });
}, 120_000);

it("the broker frozen for 20 s", async () => {
  await kafka.freeze();
  const frozenAt = performance.now();
  await write();
  await eventually(() => expect(performance.now() - frozenAt).toBeGreaterThan(FREEZE_MS), { timeoutMs: FREEZE_MS + 5_000 });
  expect(await count("records.outbox")).toBeGreaterThan(0);
  await kafka.thaw();
  await caughtUp();
}, 120_000);

it("the broker killed and started again, and everything serves meanwhile", async () => {
  await kafka.kill();
  await write();
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
  await caughtUp();
}, 120_000);

it("webhook killed between its commit and that of the offsets: the messages come again, and make nothing new", async () => {
  let before = 0;
  await withClosedGate("intake", async () => {
    await write();
    await eventually(async () => expect(await waitingAtGate("intake")).toBeGreaterThan(0));
    // From here on no offset can be committed: a frozen broker would read the request when it thaws.
    await kafka.kill();
    before = await count("webhook.events");
  });
  await eventually(async () => expect(await count("webhook.events")).toBeGreaterThan(before));
  await stack.processes.webhook.kill("SIGKILL");
  await kafka.start();
  await stack.restart("webhook");
  await caughtUp();
  await eventually(async () => expect(await metric(stack.processes.webhook, "intake_repeated_total")).toBeGreaterThan(0));
  seen.push(`repeated after a kill before the offsets: ${await metric(stack.processes.webhook, "intake_repeated_total")}`);
}, 120_000);

it("consumers from one to three and back to one, the others killed", async () => {
  const [second, third] = [await startAnother("webhook"), await startAnother("webhook")];
  const taken = (process: ServiceProcess) => metric(process, "intake_events_total");
  const writing = write();
  await writing;
  await eventually(
    async () => {
      await ledger.write(ledger.changes + 10);
      expect(Math.min(await taken(second), await taken(third), await taken(stack.processes.webhook))).toBeGreaterThan(0);
    },
    { timeoutMs: 30_000, everyMs: 200 },
  );
  await end(second, "SIGKILL");
  await write();
  await end(third, "SIGTERM");
  await caughtUp();
}, 120_000);

it("a worker killed in the middle of its requests", async () => {
  const writing = write();
  await eventually(() => expect(farm.hanging).toBeGreaterThan(0), { everyMs: 1 });
  await stack.processes.webhook.kill("SIGKILL");
  await writing;
  await stack.restart("webhook");
  await caughtUp();
}, 120_000);

it("every connection to Postgres terminated, three times", async () => {
  const writing = write();
  for (let time = 0; time < 3; time += 1) {
    const arrivals = farm.arrivals.length;
    await ledger.db.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name <> 'platform'",
    );
    await eventually(() => expect(farm.arrivals.length).toBeGreaterThan(arrivals));
  }
  await writing;
  await caughtUp();
}, 120_000);

it("in the end every change has one event that reached its receivers, in order, and nothing is left over", async () => {
  await write();
  await caughtUp();
  await allDelivered();
  expect(ledger.changes).toBeGreaterThanOrEqual(CHANGES);
  expect(await ledger.audit()).toEqual([]);
  expect(await stack.events.listDeadLetters({ page_size: 10 }, callContext(30_000))).toEqual({ dead_letters: [], total: 0 });
  await eventually(async () => expect(await metric(stack.processes.webhook, "intake_lag_messages")).toBe(0), { timeoutMs: 30_000 });
  seen.push(
    `${farm.arrivals.length} requests`,
    `${ledger.duplicates()} accepted twice, by workers that died or lost their database after sending`,
  );
  process.stdout.write(`${ledger.changes} changes, as many events; ${seen.join("; ")}\n`);
}, 180_000);
