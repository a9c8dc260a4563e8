import { readFileSync } from "node:fs";
import { AppError } from "@brand-records/errors";
import { openPool, type Database } from "@brand-records/postgres";
import { AuditServiceService, type AuditEntry, type RecordAuditRequest } from "@brand-records/proto/accounts/v1";
import { connectRpc, newCallContext, serveRpc, service, type Handlers, type PlannedEntry, type RpcServer } from "@brand-records/rpc";
import { openLog, openMetrics, type Logger } from "@brand-records/telemetry";
import { createDatabase, eventually, type TestDatabase } from "@brand-records/testkit";
import { AuditOutbox, auditEntriesOf, noticeWriter } from "./audit-outbox.ts";

/** What a change has written reaches accounts' log: nothing is lost and nothing is there twice, whoever ends or is away meanwhile. */

const ANA = "ana@ulap.example";
const BEN = "ben@ulap.example";
const PSEUDONYM = `erased_${"0".repeat(26)}`;
const BRAND = "brd_ulap";

/** Takes entries as accounts does, over gRPC. */
class FakeAccounts {
  epoch = "first";
  readonly entries = new Map<string, AuditEntry>();
  /** Ids of each call with entries that was taken. Others ask for the epoch. */
  readonly calls: string[][] = [];
  /** Comes before entries are taken. */
  before: (request: RecordAuditRequest) => Promise<void> | void = () => {};
  refuses: (entry: AuditEntry) => boolean = () => false;
  /** Comes after that, before the response. */
  after: () => Promise<void> | void = () => {};
  #inProgress = 0;
  mostAtOnce = 0;

  async recordAudit(request: RecordAuditRequest) {
    if (request.entries.length === 0) return { epoch: this.epoch, refused: [] };
    this.mostAtOnce = Math.max(this.mostAtOnce, (this.#inProgress += 1));
    try {
      await this.before(request);
      const refused = request.entries.filter(this.refuses).map(({ id }) => ({ id, problem: "subject_id must not be bad" }));
      for (const entry of request.entries.filter((each) => !this.refuses(each))) {
        const known = this.entries.get(entry.id);
        if (known === undefined || entry.tries > known.tries) this.entries.set(entry.id, entry);
      }
      this.calls.push(request.entries.map(({ id }) => id));
      await this.after();
      return { epoch: this.epoch, refused };
    } finally {
      this.#inProgress -= 1;
    }
  }

  get subjects(): string[] {
    return [...this.entries.values()].map(({ subject_id }) => subject_id ?? "");
  }
}

/** A call that stays in progress until it is let go on. */
function gate() {
  const { promise: reached, resolve: reach } = promised();
  const { promise: opened, resolve: open } = promised();
  const pass = (): Promise<void> => {
    reach();
    return opened;
  };
  return { reached, open, pass };
}

function promised(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

let database: TestDatabase;
let db: Database;
let accounts: FakeAccounts;
let server: RpcServer;
const stops: (() => Promise<void> | void)[] = [];
const lines: { fields: Record<string, unknown>; message: string }[] = [];
const append = (fields: Record<string, unknown>, message: string): void => void lines.push({ fields, message });
const log = { info: append, warn: append, error: append } as unknown as Logger;

beforeAll(async () => {
  database = await createDatabase("audit_outbox", async (url) => {
    const sql = openPool({ url, applicationName: "test" });
    await sql.query("create schema plans");
    await sql.query(readFileSync("services/plans/migrations/0002-audit-outbox.sql", "utf8"));
    await sql.query("create table plans.changes (name text unique)");
    await sql.stop();
  });
  db = openPool({ url: database.url, applicationName: "test" });
});
beforeEach(async () => {
  accounts = new FakeAccounts();
  const recordAudit: Handlers<AuditServiceService>["recordAudit"] = (request) => accounts.recordAudit(request);
  server = await serve([service(AuditServiceService, { recordAudit } as Handlers<AuditServiceService>)]);
});
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
  await server.stop();
  await db.query("truncate plans.audit_outbox, plans.audit_relay, plans.changes");
  await db.query("insert into plans.audit_relay default values");
  lines.length = 0;
});
afterAll(async () => {
  await db.stop();
  await database.drop();
});

const serve = (services: Parameters<typeof serveRpc>[0]["services"]): Promise<RpcServer> =>
  serveRpc({
    config: { RPC_HOST: "127.0.0.1", RPC_PORT: 0, RPC_OPERATOR_WITHOUT_TLS: "true" },
    services,
    log: openLog("accounts", "silent"),
    metrics: openMetrics("accounts"),
  });

/** Starts a process of the service. */
function start({ max = 2, port = server.port } = {}) {
  const pool = openPool({ url: database.url, max, applicationName: "plans" });
  const client = connectRpc(AuditServiceService, `127.0.0.1:${port}`);
  const metrics = openMetrics("plans");
  const statements: string[] = [];
  const query: Database["query"] = (statement, values) => {
    statements.push(typeof statement === "string" ? statement : statement.name);
    return pool.query(statement, values);
  };
  const outbox = new AuditOutbox({ schema: "plans", db: { ...pool, query }, accounts: client, log, metrics });
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= outbox.stop());
  stops.push(
    () => pool.stop(),
    () => client.stop(),
    stop,
  );
  return { outbox, pool, metrics, statements, stop };
}

type Started = ReturnType<typeof start>;

const planned = (more: Partial<PlannedEntry> = {}): PlannedEntry => ({
  action: "plan.update",
  brand_id: BRAND,
  actor: ANA,
  via: null,
  subject_id: "pln_1",
  fields: ["title"],
  role: null,
  request_id: "r",
  address: "198.51.100.7",
  browser: "Firefox",
  ...more,
});

/** Makes a change and its entry in one transaction. */
async function change({ outbox, pool }: Pick<Started, "outbox" | "pool">, name: string, more: Partial<PlannedEntry> = {}): Promise<void> {
  const record = outbox.record({ ...newCallContext(60_000, "r"), entry: planned({ subject_id: name, ...more }) });
  await pool.transaction(async (sql) => {
    await record(sql);
    await sql.query("insert into plans.changes values ($1)", [name]);
  });
  outbox.changed();
}

const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `pln_${n}`);
const waiting = async (): Promise<number> =>
  (await db.query<{ count: number }>("select count(*) from plans.audit_outbox where acknowledged_at is null"))[0]?.count ?? -1;
const nothingWaits = () => eventually(async () => expect(await waiting()).toBe(0));
const refusal = new AppError("plan_changed", "no");
/** Lets what is bound to a time happen now. */
const askAgain = () => db.query("update plans.audit_relay set asked_at = now() - interval '2 minutes'");

it("hands over what was committed, as it was written and in its order; nothing of what was rolled back", async () => {
  const process = start();
  for (const name of names(5)) await change(process, name);
  await expect(change(process, "pln_3")).rejects.toThrow("changes_name_key");
  await nothingWaits();
  expect(accounts.subjects).toEqual(names(5));
  const [first, ...others] = accounts.entries.values();
  const { brand_id: _brand, ...entry } = planned({ subject_id: "pln_0" });
  expect(first).toMatchObject({ ...entry, brand_id: BRAND, outcome: "done", tries: 1, created_at: expect.stringMatching(/^20.*Z$/) });
  const times = [first, ...others].map((each) => each?.created_at ?? "");
  expect(times).toEqual(times.toSorted());
});

it("hands over notices as entries without an actor", async () => {
  const { pool } = start();
  const notice = { action: "notice.plan_prepared", brand_id: BRAND, subject_id: "pln_1" } as const;
  await noticeWriter("plans")(pool, notice);
  await nothingWaits();
  const nobodys = { actor: null, via: null, role: null, address: null, browser: null, fields: [], outcome: "done", error_kind: null };
  expect([...accounts.entries.values()]).toEqual([expect.objectContaining({ ...notice, ...nobodys })]);
});

it("of several processes one hands over at a time, and each entry arrives once", async () => {
  const processes = [start(), start(), start()];
  accounts.before = () => new Promise((resolve) => setImmediate(resolve));
  await Promise.all(names(60).map((name, n) => change(processes[n % 3]!, name)));
  await nothingWaits();
  expect(accounts.subjects.toSorted()).toEqual(names(60).toSorted());
  expect(accounts.calls.flat().length).toBe(60);
  expect(accounts.mostAtOnce).toBe(1);
});

it("after an end between the call and its acknowledgement another process hands over again, and accounts knows the ids", async () => {
  const held = gate();
  accounts.after = held.pass;
  const killed = start();
  await change(killed, "pln_1");
  await held.reached;
  // Cuts off its call, as its end does: a stop does not wait for accounts.
  await killed.stop();
  expect(await waiting()).toBe(1);
  accounts.after = () => {};
  held.open();
  start();
  await nothingWaits();
  const [first, second] = accounts.calls;
  expect(second).toEqual(first);
  expect(accounts.subjects).toEqual(["pln_1"]);
});

it("a process that freezes loses the lead, and what it had sent is not taken for handed over", async () => {
  const held = gate();
  accounts.after = held.pass;
  const frozen = start();
  await change(frozen, "pln_1");
  await held.reached;
  await db.query("update plans.audit_relay set leader = 'another', leads_until = now() + interval '1 minute'");
  frozen.statements.length = 0;
  held.open();
  // The response comes now: the log that it is of may have been restored since.
  await eventually(() => expect(frozen.statements).toContain("audit_outbox.acknowledge"));
  await frozen.stop();
  expect(await waiting()).toBe(1);
  const next = start();
  await change(next, "pln_2");
  expect(accounts.calls.length).toBe(1);
  await db.query("update plans.audit_relay set leads_until = now() - interval '1 second'");
  await nothingWaits();
  expect(accounts.subjects).toEqual(["pln_1", "pln_2"]);
});

it("entries wait while accounts is away or of a release that takes none, and arrive in order when it is back", async () => {
  const old = await serve([]);
  stops.push(() => old.stop());
  const [unreachable, refused] = [start({ port: 1 }), start({ port: old.port })];
  await change(unreachable, "pln_0");
  await change(refused, "pln_1");
  await eventually(() => expect(lines.filter(({ message }) => message === "entries of the audit log wait").length).toBeGreaterThan(1));
  await db.query("update plans.audit_outbox set waits_since = now() - interval '400 seconds' where entry->>'subject_id' = 'pln_0'");
  const gauge = async () => Number(/^audit_outbox_oldest_seconds\S* (\S+)$/m.exec(await unreachable.metrics.metrics())?.[1]);
  expect(await gauge()).toBeGreaterThanOrEqual(400);
  start();
  await nothingWaits();
  expect(accounts.subjects).toEqual(["pln_0", "pln_1"]);
});

it("holds no connection while accounts does not respond", async () => {
  const held = gate();
  accounts.before = held.pass;
  const process = start({ max: 1 });
  await change(process, "pln_1");
  await held.reached;
  expect(process.pool.state()).toMatchObject({ used: 0 });
  await change(process, "pln_2");
  accounts.before = () => {};
  held.open();
  await nothingWaits();
});

it("an entry that accounts refuses holds up no other: it waits, is logged as an error, and is tried again later", async () => {
  accounts.refuses = ({ subject_id }) => subject_id === "pln_bad";
  const process = start();
  await change(process, "pln_bad");
  for (const name of names(20)) await change(process, name);
  await eventually(async () => expect(await waiting()).toBe(1));
  expect(accounts.subjects).toEqual(names(20));
  const errors = () => lines.filter(({ message }) => message === "accounts refuses an entry of the audit log");
  expect(errors()).toEqual([
    { fields: expect.objectContaining({ brand_id: BRAND, problem: "subject_id must not be bad" }), message: expect.any(String) },
  ]);
  await change(process, "pln_after");
  await eventually(() => expect(accounts.subjects).toContain("pln_after"));
  expect(errors().length).toBe(1);
  accounts.refuses = () => false;
  await db.query("update plans.audit_outbox set refused_at = now() - interval '2 hours' where acknowledged_at is null");
  process.outbox.changed();
  await nothingWaits();
  expect(accounts.subjects).toContain("pln_bad");
});

it("a restored accounts gets everything of seven days again, without any new change, and with those of meanwhile", async () => {
  const process = start();
  for (const name of names(3)) await change(process, name);
  await nothingWaits();
  accounts.entries.clear();
  accounts.epoch = "second";
  await askAgain();
  await eventually(() => expect(accounts.subjects).toEqual(names(3)));
  const held = gate();
  accounts.entries.clear();
  accounts.epoch = "third";
  accounts.before = held.pass;
  await change(process, "pln_a");
  await held.reached;
  await change(process, "pln_b");
  accounts.before = () => {};
  held.open();
  await eventually(() => expect(accounts.subjects.toSorted()).toEqual([...names(3), "pln_a", "pln_b"].toSorted()));
  await nothingWaits();
});

it("deletes what accounts acknowledged seven days ago, once accounts responds; never what waits", async () => {
  const insert = (subject: string, days: number, acknowledged: boolean) =>
    db.query(
      `insert into plans.audit_outbox (id, brand_id, entry, created_at, acknowledged_at)
       select 'aud_' || $1, $2, $3::jsonb, at, case when $5 then at end from (select now() - make_interval(days => $4)) t(at)`,
      [subject, BRAND, JSON.stringify({ ...planned({ subject_id: subject }), outcome: "done", error_kind: null }), days, acknowledged],
    );
  await insert("old", 8, true);
  await insert("kept", 6, true);
  await insert("late", 8, false);
  const ids = async () => (await db.query<{ id: string }>("select id from plans.audit_outbox order by seq")).map(({ id }) => id);
  accounts.before = () => {
    throw new AppError("unavailable", "away");
  };
  const process = start();
  await eventually(() => expect(lines.length).toBeGreaterThan(0));
  expect(await ids()).toEqual(["aud_old", "aud_kept", "aud_late"]);
  accounts.before = () => {};
  process.outbox.changed();
  await eventually(async () => expect(await ids()).toEqual(["aud_kept", "aud_late"]));
  expect(accounts.subjects).toEqual(["late"]);
});

describe("refusals", () => {
  it("of one person, change, kind and day are counted in one entry, and its last count arrives", async () => {
    const { outbox } = start();
    await Promise.all(Array.from({ length: 5 }, () => outbox.refused(planned(), refusal)));
    await outbox.refused(planned(), new AppError("owner_required", "no"));
    await outbox.refused(planned({ actor: BEN }), refusal);
    await outbox.refused(planned({ brand_id: undefined }), refusal);
    await nothingWaits();
    const refused = [...accounts.entries.values()].map(({ actor, error_kind, tries }) => `${actor} ${error_kind} ${tries}`);
    expect(refused.toSorted()).toEqual([`${ANA} owner_required 1`, `${ANA} plan_changed 5`, `${BEN} plan_changed 1`]);
  });

  it("is counted also while the count before is on its way", async () => {
    const held = gate();
    accounts.before = held.pass;
    const { outbox } = start();
    await outbox.refused(planned(), refusal);
    outbox.changed();
    await held.reached;
    await outbox.refused(planned(), refusal);
    accounts.before = () => {};
    held.open();
    await nothingWaits();
    expect([...accounts.entries.values()]).toMatchObject([{ tries: 2 }]);
  });
});

describe("erasing a person", () => {
  const rows = () =>
    db.query("select entry->>'actor' as actor, entry->>'via' as via, entry->>'address' as address from plans.audit_outbox order by seq");

  it("puts the pseudonym in place of the address, as actor and as owner of a link; repeated, it names the same brands", async () => {
    const process = start();
    await change(process, "pln_1", { brand_id: "brd_a" });
    await change(process, "pln_2", { actor: BEN, via: ANA, brand_id: "brd_b" });
    await change(process, "pln_3", { actor: BEN, brand_id: "brd_c" });
    for (let n = 0; n < 2; n += 1) expect((await process.outbox.erase(ANA, PSEUDONYM)).toSorted()).toEqual(["brd_a", "brd_b"]);
    expect(await rows()).toEqual([
      { actor: PSEUDONYM, via: null, address: null },
      { actor: BEN, via: PSEUDONYM, address: null },
      { actor: BEN, via: null, address: "198.51.100.7" },
    ]);
  });

  it("leaves nothing that relates the pseudonym to the address, and counts a later stay's refusals apart", async () => {
    const { outbox } = start();
    await outbox.refused(planned(), refusal);
    const before = await db.query<{ id: string; counted_by: string }>("select id, counted_by from plans.audit_outbox");
    await outbox.erase(ANA, PSEUDONYM);
    const after = await db.query("select id, counted_by, entry->>'actor' as actor from plans.audit_outbox");
    expect(after).toEqual([{ id: before[0]?.id, counted_by: null, actor: PSEUDONYM }]);
    expect(before[0]?.id).not.toBe(before[0]?.counted_by);
    await outbox.refused(planned(), refusal);
    const both = "select entry->>'actor' as actor, tries from plans.audit_outbox order by seq";
    expect(await db.query(both)).toEqual([
      { actor: PSEUDONYM, tries: 1 },
      { actor: ANA, tries: 1 },
    ]);
  });

  it("ends after the calls that have the address", async () => {
    const held = gate();
    accounts.before = held.pass;
    const process = start();
    await change(process, "pln_1");
    await held.reached;
    let hasEnded = false;
    const erased = process.outbox.erase(ANA, PSEUDONYM).then(() => (hasEnded = true));
    await eventually(() => expect(process.statements.filter((name) => name === "audit_outbox.lease").length).toBeGreaterThan(3));
    expect(await rows()).toMatchObject([{ actor: PSEUDONYM }]);
    expect(hasEnded).toBe(false);
    held.open();
    await erased;
    expect([...accounts.entries.values()]).toMatchObject([{ actor: ANA }]);
  });
});

it("deletes a brand's entries in batches, those that wait too, and no other brand's", async () => {
  const process = start();
  await change(process, "pln_1");
  await nothingWaits();
  await change(process, "pln_2", { brand_id: "brd_other" });
  await change(process, "pln_3");
  const { deleteBatch } = auditEntriesOf(db, "plans", BRAND);
  expect(await deleteBatch(1)).toBe(1);
  expect(await deleteBatch(5_000)).toBe(1);
  expect(await db.query("select brand_id from plans.audit_outbox")).toEqual([{ brand_id: "brd_other" }]);
});
