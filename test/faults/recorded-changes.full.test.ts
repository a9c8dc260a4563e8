import { openPool, type Database } from "@brand-records/postgres";
import { newCallContext, type CallContext } from "@brand-records/rpc";
import { eventually, startPostgresServer, type PostgresServer } from "@brand-records/testkit";
import { metricOf } from "../admin-port.ts";
import { planInput } from "../plan-input.ts";
import { callContext, startStack, type Stack } from "../stack.ts";

/**
 * One promise: what people change is in the audit log, each change once and in order, and nothing else is, whatever process or database is
 * killed. Triggers of this test note each change in the transaction that makes it.
 */

/** Of each victim. */
const KILLS = Number(process.env["KILLS"] ?? 2);
/** How long accounts is away. */
const AWAY_MS = Number(process.env["AWAY_MS"] ?? 3_000);
const CHANGES_PER_SECOND = 50;
const IN_FLIGHT_MAX = 100;
/** Changes that succeed between two kills. */
const BETWEEN_KILLS = 40;
const BRANDS = 10;
const VICTIMS = ["plans", "webhook", "accounts", "postgres"] as const;

let postgres: PostgresServer;
let stack: Stack;
let db: Database;
let people: Person[];

/** An owner, with what the owner changes again and again. */
interface Person {
  readonly brand_id: string;
  readonly token: string;
  readonly receiver_id: string;
  readonly plan_id: string;
}

beforeAll(async () => {
  postgres = await startPostgresServer();
  const database = { url: postgres.url, drop: async () => {} };
  stack = await startStack({ database, envOf: { accounts: { KEYS_PER_BRAND_MAX: "10000" } } });
  db = openPool({ url: postgres.url, applicationName: "recorded changes", max: 2 });
  people = await Promise.all(Array.from({ length: BRANDS }, newPerson));
  await db.query("create table public.changes (seq bigserial primary key, subject text, request_id text)");
  await db.query(`create function public.note_change() returns trigger language plpgsql as
    $$ begin insert into public.changes (subject, request_id) values (new.id, to_jsonb(new)->>tg_argv[0]); return new; end $$`);
  for (const [table, event, column] of [
    ["accounts.keys", "insert", "name"],
    ["webhook.receivers", "update of label", "label"],
    ["plans.plans", "update of title", "title"],
  ])
    await db.query(`create trigger noted after ${event} on ${table} for each row execute function public.note_change('${column}')`);
});
afterAll(async () => {
  await db.stop();
  await stack.stop();
  await postgres.stop();
});

async function newPerson(): Promise<Person> {
  const { id: brand_id, owner: email } = await stack.createBrand();
  const { token: link } = await stack.signIn.createSignInLink({ email, ttl_seconds: 0 }, callContext());
  const { session } = await stack.signIn.redeemSignInLink({ token: link }, callContext());
  const url = "https://receiver.example/hook";
  const { receiver } = await stack.receivers.createReceiver({ brand_id, url, label: "Books", events: ["payout.paid"] }, callContext());
  const input = { ...planInput(), planning_budget_centavos: 7_500_050, requirements: [], platforms: [] };
  const { plan } = await stack.plans.preparePlan({ brand_id, input }, callContext());
  return { brand_id, token: session?.token ?? "", receiver_id: receiver?.id ?? "", plan_id: plan?.id ?? "" };
}

/** Makes a change as the console does. @returns whether it was made for sure */
async function change(n: number): Promise<boolean> {
  const { brand_id, token, receiver_id, plan_id } = people[n % people.length] as Person;
  const name = `c${n}`;
  const changes: ((call: CallContext) => Promise<unknown>)[] = [
    (call) => stack.accounts.createKey({ brand_id, name, environment: "live", permissions: [], created_by: "" }, call),
    (call) => stack.receivers.updateReceiver({ brand_id, receiver_id, label: name, events: [] }, call),
    async (call) => {
      const { plan } = await stack.plans.getWorkspacePlan({ brand_id, plan_id, acting_member: "" }, call);
      const expected_revision = plan?.revision ?? 0;
      const changed = { title: name, requirements: null, platforms: null };
      await stack.plans.updatePlan({ brand_id, plan_id, acting_member: "", expected_revision, changes: changed }, call);
    },
  ];
  try {
    const call = newCallContext(5_000, name);
    const { grants } = await stack.sessions.getSession({ token, with_grants: true, brand_id }, call);
    await changes[Math.floor(n / people.length) % changes.length]?.({ ...call, grants });
    return true;
  } catch {
    return false;
  }
}

/** People at work until `stop`: they retry nothing. */
function work() {
  let [made, sent, running] = [0, 0, 0];
  const timer = setInterval(() => {
    if (running >= IN_FLIGHT_MAX) return;
    running += 1;
    void change((sent += 1)).then((isMade) => {
      running -= 1;
      made += Number(isMade);
    });
  }, 1_000 / CHANGES_PER_SECOND);
  return {
    made: () => made,
    async stop() {
      clearInterval(timer);
      await eventually(() => expect(running).toBe(0));
    },
  };
}

/** Returns changes with such a name, and what the audit log has of them, when nothing waits any more. */
async function recorded(letter: string) {
  for (const schema of ["plans", "webhook"])
    await eventually(
      async () => expect(await db.query(`select id from ${schema}.audit_outbox where acknowledged_at is null`)).toEqual([]),
      { timeoutMs: 60_000 },
    );
  const name = `^${letter}[0-9]+$`;
  const changes = await db.query(
    "select subject as subject_id, request_id from public.changes where request_id ~ $1 order by subject, seq",
    [name],
  );
  const entries = await db.query(
    `select subject_id, request_id from accounts.audit_entries where request_id ~ $1 and outcome = 'done' and action !~ '^session'
      order by subject_id, created_at, id`,
    [name],
  );
  return { changes, entries };
}

it("has each change once and in order, and nothing else, when services and the database are killed under changes", async () => {
  const working = work();
  const killedAt = () => eventually(() => expect(working.made()).toBeGreaterThanOrEqual(before + BETWEEN_KILLS), { timeoutMs: 60_000 });
  let before = 0;
  for (let round = 0; round < KILLS; round += 1)
    for (const victim of VICTIMS) {
      await killedAt();
      if (victim === "postgres") {
        await postgres.kill();
        await postgres.start();
      } else {
        await stack.processes[victim].kill("SIGKILL");
        await stack.restart(victim);
      }
      before = working.made();
    }
  await killedAt();
  await working.stop();
  const { changes, entries } = await recorded("c");
  expect(changes.length).toBeGreaterThanOrEqual(working.made());
  expect(entries).toEqual(changes);
  console.info(`${working.made()} changes confirmed, ${changes.length} made, ${entries.length} entries, ${KILLS} kills of each`);
}, 1_200_000);

/** Nobody can sign in then, but the operator's tools go on. */
it("has what the operator changes while accounts is away, each change once and in order", async () => {
  await stack.processes.accounts.kill("SIGKILL");
  const awayAt = performance.now();
  let n = 0;
  const changeAll = async (): Promise<void> => {
    for (const { brand_id, receiver_id } of people) {
      const name = `o${(n += 1)}`;
      await stack.receivers.updateReceiver({ brand_id, receiver_id, label: name, events: [] }, newCallContext(5_000, name));
    }
    expect(performance.now() - awayAt).toBeGreaterThan(AWAY_MS);
  };
  await eventually(changeAll, { timeoutMs: AWAY_MS + 60_000 });
  expect(await metricOf(stack.processes.webhook, "audit_outbox_oldest_seconds")).toBeGreaterThan(0);
  await stack.restart("accounts");
  const { changes, entries } = await recorded("o");
  expect(changes).toHaveLength(n);
  expect(entries).toEqual(changes);
}, 300_000);
