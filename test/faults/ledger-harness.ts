import { eventually } from "@brand-records/testkit";
import { Ledger, type LedgerOptions } from "../ledger.ts";
import { BEHAVIORS, startFakeReceivers, type FakeReceivers } from "../fake-receivers.ts";
import { callContext, startStack, type Stack, type StackOptions } from "../stack.ts";

/** Nine delays, as in production, but short. */
const RETRY_DELAYS_SECONDS = "0.2,0.2,0.4,0.4,0.8,0.8,1,1,1";
const DELIVERY_DEADLINE_MS = 1_000;
/**
 * If webhook is killed under load, its leases fill every lane: nothing is sent until they end, 15 s after the attempts' deadline, and
 * a look-out that runs every 2 s sees it. Measured from the kill: up to 17.7 s. (Its partitions of the event log are free after 10 s.)
 */
const LEASES_END_MS = DELIVERY_DEADLINE_MS + 15_000 + 2_000;
/** Three in ten of a delivery's first five attempts meet a random behavior. All other attempts are accepted. */
const FAULT_PROBABILITY = 0.3;
const FAULTY_ATTEMPTS_MAX = 5;

/** Statements at which a test can stop a process: a trigger waits there for the advisory lock with this key. */
const GATES = { removal: 71, intake: 72 } as const;
type Gate = keyof typeof GATES;

export interface LedgerHarnessOptions {
  readonly brokers: string;
  /** Status changes over the whole run. */
  readonly changes: number;
  /** Calls of `write` that together make these changes. */
  readonly rounds: number;
  readonly brands: number;
  /** The fewer, the sooner a record changes again. Default: as many as let each change twice. */
  readonly recordsPerBrand?: number;
  /** Default: a tenth of the changes. */
  readonly changesPerSecond?: number;
  /** Time until every event is taken in at the end. Default: a minute. */
  readonly caughtUpWithinMs?: number;
  /** Time until everything is delivered at the end. Default: 5 minutes. */
  readonly deliveredWithinMs?: number;
  /** Receivers accept every attempt, and a busy machine's too: what is accepted twice is then due to what the test kills. */
  readonly receiversAccept?: boolean;
  /** More of the stack, and where records are written. Default: in the stack's database. */
  readonly stackOptions?: StackOptions;
  readonly write?: LedgerOptions["write"];
  readonly writers?: number;
  /** What the records need besides the stack. */
  readonly prepare?: (stack: Stack) => Promise<void>;
}

/** A running system, receivers that fail in many ways, and a ledger of what the platform committed. */
export interface LedgerHarness {
  readonly stack: Stack;
  readonly ledger: Ledger;
  readonly receivers: FakeReceivers;
  /** Commits one round of changes. */
  write(): Promise<void>;
  /** Resolves when webhook has stored an event for every change and the outbox is empty. */
  untilCaughtUp(): Promise<void>;
  /** Resolves when receivers get requests again, at the latest after the leases of a killed webhook have ended. */
  untilMoreArrive(): Promise<void>;
  /** Resolves when no delivery is pending. */
  untilDelivered(): Promise<void>;
  /** Runs `work` while the gate is closed: every process that reaches it waits. */
  withClosedGate(gate: Gate, work: () => Promise<void>): Promise<void>;
  /** Counts the connections that wait at the gate. */
  waitingAtGate(gate: Gate): Promise<number>;
  count(table: string): Promise<number>;
  /** Describes each problem: too few changes, a violation that `Ledger.audit` found, a dead letter. Empty if there is none. */
  problems(): Promise<string[]>;
  stop(): Promise<void>;
}

export async function startLedgerHarness(options: LedgerHarnessOptions): Promise<LedgerHarness> {
  const { brokers, changes, rounds, brands, changesPerSecond = changes / 10 } = options;
  const { recordsPerBrand = Math.max(20, changes / (2 * brands)) } = options;
  const { caughtUpWithinMs = 60_000, deliveredWithinMs = 300_000 } = options;
  const receivers = await startFakeReceivers((_, attempt) => {
    if (options.receiversAccept === true || attempt > FAULTY_ATTEMPTS_MAX || Math.random() > FAULT_PROBABILITY) return "accepted";
    return BEHAVIORS[Math.floor(Math.random() * BEHAVIORS.length)] ?? "accepted";
  });
  const deadlineMs = String(options.receiversAccept === true ? 15_000 : DELIVERY_DEADLINE_MS);
  const stack = await startStack({
    ...options.stackOptions,
    kafkaBrokers: brokers,
    env: { LOG_LEVEL: "info", RECEIVERS_ON_LOOPBACK: "true", DELIVERY_DEADLINE_MS: deadlineMs, RETRY_DELAYS_SECONDS },
  });
  const ledger = new Ledger(stack, receivers, {
    brands,
    recordsPerBrand,
    receiversPerBrand: 2,
    changesPerSecond,
    write: options.write,
    writers: options.writers,
  });
  await options.prepare?.(stack);
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
    untilCaughtUp: () =>
      eventually(
        async () =>
          expect({ events: await count("webhook.events"), waiting: await count("records.outbox") }).toEqual({
            events: ledger.changes,
            waiting: 0,
          }),
        // Counting a million of them takes a tenth of a second.
        { timeoutMs: caughtUpWithinMs, everyMs: Math.max(100, changes / 1_000) },
      ),
    untilMoreArrive() {
      const before = receivers.arrivals.length;
      return eventually(() => expect(receivers.arrivals.length).toBeGreaterThan(before), { timeoutMs: LEASES_END_MS + 10_000 });
    },
    // Receivers that take one attempt at a time and let every tenth hang are minutes behind on a slow machine.
    untilDelivered: () =>
      eventually(
        // Counting a million of them would take a core from what sends them.
        async () => expect(await ledger.db.query("select id from webhook.deliveries limit 1")).toEqual([]),
        { timeoutMs: deliveredWithinMs, everyMs: 200 },
      ),
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
      const tooFew = ledger.changes < changes ? [`only ${ledger.changes} of ${changes} changes`] : [];
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
