import { eventually, type ServiceProcess } from "@brand-records/testkit";
import { Ledger } from "../ledger.ts";
import { BEHAVIORS, startFakeReceivers, type FakeReceivers } from "../fake-receivers.ts";
import { callContext, startStack, type Stack } from "../stack.ts";

/** Pauses after failed attempts: nine, as in production, but short. */
const RETRY_DELAYS_SECONDS = "0.2,0.2,0.4,0.4,0.8,0.8,1,1,1";
/** A third of the first attempts fails, in every way there is; the sixth never does. */
const WRONG = 0.3;
const WRONG_ATTEMPTS_MAX = 5;

/** Two places where a test can hold a process at a known statement: triggers wait there for an advisory lock. */
const GATES = { removal: 71, intake: 72 } as const;
type Gate = keyof typeof GATES;

export interface LedgerHarnessOptions {
  readonly brokers: string;
  /** Changes of a status over the whole run. */
  readonly changes: number;
  /** How many calls of `write` make them. */
  readonly rounds: number;
  readonly brands: number;
}

/** A running system, receivers that fail in every way, and a ledger of what the platform committed. */
export interface LedgerHarness {
  readonly stack: Stack;
  readonly ledger: Ledger;
  readonly receivers: FakeReceivers;
  /** Commits one round of changes. */
  write(): Promise<void>;
  /** Resolves when every change is an event at webhook. */
  caughtUp(): Promise<void>;
  /** Resolves when no delivery is left to send. */
  allDelivered(): Promise<void>;
  /** Runs `work` while no process gets through the gate. */
  withClosedGate(gate: Gate, work: () => Promise<void>): Promise<void>;
  waitingAtGate(gate: Gate): Promise<number>;
  count(table: string): Promise<number>;
  /** What of the promise does not hold, in words. Empty if all of it does. */
  problems(): Promise<string[]>;
  stop(): Promise<void>;
}

export async function startLedgerHarness({ brokers, changes, rounds, brands }: LedgerHarnessOptions): Promise<LedgerHarness> {
  const receivers = await startFakeReceivers((_, attempt) => {
    if (attempt > WRONG_ATTEMPTS_MAX || Math.random() > WRONG) return "accepted";
    return BEHAVIORS[Math.floor(Math.random() * BEHAVIORS.length)] ?? "accepted";
  });
  const stack = await startStack({
    kafkaBrokers: brokers,
    env: { LOG_LEVEL: "info", RECEIVERS_ON_LOOPBACK: "true", DELIVERY_DEADLINE_MS: "1000", RETRY_DELAYS_SECONDS },
  });
  const ledger = new Ledger(stack, receivers, {
    brands,
    recordsPerBrand: Math.max(20, changes / (2 * brands)),
    receiversPerBrand: 2,
    changesPerSecond: changes / 10,
  });
  await ledger.prepare(stack);
  await makeGates(ledger);

  const count = async (table: string): Promise<number> => {
    const [row] = await ledger.db.query<{ n: number }>(`select count(*) as n from ${table}`);
    return row?.n ?? 0;
  };
  return {
    stack,
    ledger,
    receivers,
    count,
    write: () => ledger.write(ledger.changes + Math.ceil(changes / rounds)),
    caughtUp: () =>
      eventually(
        async () =>
          expect({ events: await count("webhook.events"), waiting: await count("records.outbox") }).toEqual({
            events: ledger.changes,
            waiting: 0,
          }),
        { timeoutMs: 60_000, everyMs: 100 },
      ),
    // What a killed worker had is sent again once its lease has ended.
    allDelivered: () => eventually(async () => expect(await count("webhook.deliveries")).toBe(0), { timeoutMs: 120_000, everyMs: 200 }),
    withClosedGate: (gate, work) =>
      ledger.db.transaction(async (sql) => {
        await sql.query("set local idle_in_transaction_session_timeout = 0");
        await sql.query("select pg_advisory_xact_lock($1)", [GATES[gate]]);
        await work();
      }),
    async waitingAtGate(gate) {
      const rows = await ledger.db.query("select from pg_locks where locktype = 'advisory' and objid = $1 and not granted", [GATES[gate]]);
      return rows.length;
    },
    async problems() {
      const { dead_letters } = await stack.events.listDeadLetters({ page_size: 10 }, callContext(30_000));
      const tooFew = ledger.changes < changes ? [`${ledger.changes} changes of ${changes}`] : [];
      return [...tooFew, ...(await ledger.audit()), ...dead_letters.map(({ reason }) => `dead letter: ${reason}`)];
    },
    async stop() {
      await ledger.stop();
      await stack.stop();
      await receivers.stop();
    },
  };
}

async function makeGates({ db }: Ledger): Promise<void> {
  await db.query(`
    create function public.wait_at_gate() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock_shared(tg_argv[0]::bigint); return null; end $$;
    create trigger gate before delete on records.outbox for each statement execute function public.wait_at_gate(${GATES.removal});
    create trigger gate before insert on webhook.deliveries for each statement execute function public.wait_at_gate(${GATES.intake});
    grant execute on function public.wait_at_gate to public`);
}

/** The value of a process' metric; NaN if it has none of that name. */
export async function metric(process: ServiceProcess, name: string): Promise<number> {
  const { admin_port } = process.ready as { admin_port: number };
  const text = await (await fetch(`http://127.0.0.1:${admin_port}/metrics`)).text();
  return Number(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN);
}
