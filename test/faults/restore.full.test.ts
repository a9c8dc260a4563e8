import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EVENT_TYPE_NAMES } from "@brand-records/resources";
import { eventually } from "@brand-records/testkit";
import { startClients } from "../clients-in-turn.ts";
import { planInput, postPlan } from "../plan-input.ts";
import { seedBrand } from "../seed-brand.ts";
import { callContext, type ServiceName, type TestBrand } from "../stack.ts";
import { auditActionsIn, exportAudit, REFUSING, replaceData, SERVICES, startRestore, type Restore } from "./restore-harness.ts";

/**
 * One promise: what docs/operations.md says about backup and restore holds, on the oldest supported Postgres. The tests run its commands, and build on
 * one another.
 */

/** A killed process' partitions and leases are free after that; it begins after the restore. */
const TIMEOUT_MS = 90_000;

const ADD_PENDING = `
  insert into records.submissions
  select (jsonb_populate_record(null::records.submissions, one || jsonb_build_object('id', 'sub_pending' || i))).*
    from (select to_jsonb(s) as one from records.submissions s where brand_id = $1 and status = 'pending' limit 1) s, generate_series(1, 2000) i`;

const OTHER_KEYS = 20_000;
/** Keys of another brand: the list of keys is long. */
const ADD_BRAND = "insert into accounts.brands (id, name, tier, verified) values ('brd_other', 'Other', 'plus', true)";
const ADD_KEYS = `
  insert into accounts.keys (id, brand_id, environment, name, permissions, hint, pepper_version, key_hash, created_by)
  select 'key_' || i, 'brd_other', 'live', 'Key', '{records:read}', 'brk_live_…abcd', 1, sha256(i::text::bytea), 'owner@other.example'
    from generate_series(1, ${OTHER_KEYS}) i`;

let restore: Restore;
let brand: TestBrand;
/** Submissions that can still be approved. */
let pending: string[];
let startedAt: string;

beforeAll(async () => {
  restore = await startRestore(process.env["TEST_KAFKA_BROKERS"] ?? "");
  const { stack, db, receivers } = restore;
  brand = await stack.createBrand({ permissions: ["campaigns:prepare"] });
  await seedBrand(stack, brand.id);
  await db.accounts.query(ADD_BRAND);
  await db.accounts.query(ADD_KEYS);
  await db.records.query(ADD_PENDING, [brand.id]);
  pending = (await db.records.query<{ id: string }>("select id from records.submissions where status = 'pending' order by id")).map(
    ({ id }) => id,
  );
  await stack.addReceiver(brand, receivers.urlOf(0), EVENT_TYPE_NAMES, "First");
  startedAt = new Date().toISOString();
}, 180_000);
afterAll(() => restore.stop());

/** Approves pending submissions, each of which is an event. */
async function approve(count: number): Promise<string[]> {
  const ids = pending.splice(0, count);
  expect(ids).toHaveLength(count);
  for (const id of ids) await setStatus(id);
  return ids;
}

const setStatus = (id: string): Promise<unknown> =>
  restore.db.records.query(
    "update records.submissions set status = 'approved', reviewed_at = now(), updated_at = now() where brand_id = $1 and id = $2",
    [brand.id, id],
  );

/** Ids of the events that the receiver got about a record, with repetitions. */
const arrivalsOf = (record: string): string[] =>
  restore.receivers.arrivals.filter((arrival) => arrival.record === record).map(({ eventId }) => eventId);

const untilDelivered = (records: readonly string[], times = 1): Promise<void> =>
  eventually(() => expect(records.filter((record) => arrivalsOf(record).length < times)).toEqual([]), { timeoutMs: TIMEOUT_MS });

const statusOf = async (key: string): Promise<number> => (await restore.stack.get("/api/v1/submissions?limit=5", key)).status;

async function prepare(input: object): Promise<{ status: number; plan_id: string }> {
  const response = await postPlan(restore.stack.url, brand.key, input);
  const { plan_id } = (await response.json()) as { plan_id: string };
  return { status: response.status, plan_id };
}

const revoke = (key_id: string): Promise<unknown> =>
  restore.stack.accounts.revokeKey({ brand_id: brand.id, key_id, revoked_by: brand.owner }, callContext());

const end = (services: readonly ServiceName[], signal: NodeJS.Signals): Promise<unknown> =>
  Promise.all(services.map((service) => restore.stack.processes[service].kill(signal)));

const rewind = (since = startedAt, replaced: Readonly<Record<string, string>> = {}): Promise<string> =>
  restore.command("webhook/dist/after-restore", "webhook", { "2026-11-23T06:00:00Z": since, ...replaced });

const dump = (service: ServiceName): Promise<string> => restore.command("pg_dump", service, { SERVICE: service });

it("restores accounts and webhook alone from dumps that were taken under traffic", async () => {
  const { stack, db } = restore;
  const [revoked, staying] = [await stack.createKey(brand), await stack.createKey(brand)];
  const session = await stack.newSession(brand.owner);

  const traffic = startClients(1, async () => {
    const approved = await approve(1);
    expect(await statusOf(brand.key)).toBe(200);
    return approved;
  });
  await eventually(() => expect(restore.receivers.arrivals.length).toBeGreaterThan(2));
  for (const service of SERVICES) await dump(service);
  const before = (await traffic.stop()).flat();

  const made = await stack.createKey(brand);
  await revoke(revoked.id);
  await stack.sessions.endSession({ token: session }, callContext());
  await stack.addReceiver(brand, restore.receivers.urlOf(1), ["payout.paid"], "Second");
  const after = await approve(10);
  await untilDelivered([...before, ...after]);
  expect([await statusOf(revoked.secret), await statusOf(staying.secret), await statusOf(made.secret)]).toEqual([401, 200, 200]);

  // The last 35 s are left to the next export.
  const exported = async (): Promise<void> => {
    await exportAudit(restore);
    expect(await auditActionsIn(restore)).toContain("key.revoke");
  };
  await eventually(exported, { timeoutMs: 120_000, everyMs: 2_000 });

  // Else its processes would commit their own places again.
  await expect(rewind()).rejects.toThrow("no running instances");

  await end(["accounts", "webhook"], "SIGKILL");
  for (const service of ["accounts", "webhook"] as const) {
    await restore.command("alter schema", service, { SERVICE: service });
    await restore.command("pg_restore", service, { SERVICE: service });
  }
  await restore.command("restored_from_backup", "accounts");
  const report = await restore.command("after-restore.js --audit", "accounts");
  await stack.restart("accounts");
  // Kafka gives a killed process' place in its group to others after 10 s, and until then the group cannot be rewound.
  await eventually(() => rewind(), { timeoutMs: TIMEOUT_MS, everyMs: 1_000 });
  // No message is skipped, whatever the time.
  expect(await rewind("2099-01-01T00:00:00Z")).toContain('"messages":0');
  await stack.restart("webhook");

  const lines = report.split("\n").filter((line) => line.includes("revocation may be lost"));
  const listed = lines.map((line) => JSON.parse(line) as { brand_id: string; key_id: string });
  expect(listed).toHaveLength(OTHER_KEYS + 2);
  const ours = listed.filter(({ brand_id }) => brand_id === brand.id).map(({ key_id }) => key_id);
  expect(ours.toSorted()).toEqual([brand.keyId, staying.id].toSorted());
  expect(report).toMatch(/"brands":2,"keys_revoked":1,.*"sessions_ended":1,/);

  // The gateway has verified this key within the last seconds, and has run on.
  expect(await statusOf(made.secret)).toBe(401);
  expect(await statusOf(staying.secret)).toBe(200);
  const { keys } = await stack.accounts.listKeys({ brand_id: brand.id, ids: [] }, callContext());
  expect(keys.find(({ id }) => id === revoked.id)?.revoked_by).toBe("operator");
  expect(await statusOf(revoked.secret)).toBe(401);
  await expect(stack.sessions.getSession({ token: session }, callContext())).rejects.toMatchObject({ kind: "invalid_session" });

  await untilDelivered(after, 2);
  const stored = await db.webhook.query<{ record: string }>("select data->>'id' as record from webhook.events");
  expect(stored.map(({ record }) => record).toSorted()).toEqual([...before, ...after].toSorted());
  for (const record of [...before, ...after]) expect(new Set(arrivalsOf(record)).size).toBe(1);
  const { receivers } = await stack.receivers.listReceivers({ brand_id: brand.id }, callContext());
  expect(receivers.map(({ label }) => label)).toEqual(["First"]);
  await untilDelivered(await approve(1));
}, 300_000);

it("restores all services to one moment from a base backup and the archived write-ahead log", async () => {
  const { stack, db, server, folder } = restore;
  await restore.command("pg_basebackup", "accounts");
  const [kept, lost] = [planInput(), planInput()];
  const keptPlan = await prepare(kept);
  expect(keptPlan.status).toBe(201);
  const before = await approve(3);
  await untilDelivered(before);
  const { next_cursor: cursor } = (await (await stack.get("/api/v1/submissions?limit=5", brand.key)).json()) as { next_cursor: string };
  await db.accounts.query("select pg_create_restore_point('before_the_mistake')");

  const lostPlan = await prepare(lost);
  const after = await approve(3);
  await untilDelivered(after);
  const gone = await stack.createKey(brand);
  const archived = await db.accounts.query<{ name: string }>("select pg_walfile_name(pg_switch_wal()) as name");
  await eventually(async () => expect(await readdir(join(folder, "archive"))).toContain(archived[0]?.name));

  await end(SERVICES, "SIGTERM");
  await server.kill();
  await replaceData(server.dataDir, join(folder, "base"));
  const settings = [
    `restore_command = 'cp ${folder}/archive/%f %p'`,
    "recovery_target_name = 'before_the_mistake'",
    "recovery_target_action = 'promote'",
  ];
  await writeFile(join(server.dataDir, "recovery.signal"), "");
  await writeFile(join(server.dataDir, "postgresql.auto.conf"), settings.map((line) => `${line}\n`).join(""));
  await server.start();
  await eventually(async () =>
    expect(await db.accounts.query("select pg_is_in_recovery() as recovering")).toEqual([{ recovering: false }]),
  );
  await restore.command("restored_from_backup", "accounts");
  await restore.command("after-restore.js --audit", "accounts", { "--audit audit.ndjson": "--without-audit" });
  await stack.restart("accounts");
  await rewind();
  await Promise.all(SERVICES.filter((service) => service !== "accounts").map((service) => stack.restart(service)));

  await eventually(async () => expect(await statusOf(brand.key)).toBe(200));
  expect(await statusOf(gone.secret)).toBe(401);
  expect(await prepare(kept)).toEqual({ status: 200, plan_id: keptPlan.plan_id });
  const again = await prepare(lost);
  expect(again.status).toBe(201);
  expect(again.plan_id).not.toBe(lostPlan.plan_id);
  expect((await stack.get(`/api/v1/submissions?limit=5&cursor=${cursor}`, brand.key)).status).toBe(200);

  // The change is lost: made again, it is another event.
  const states = await db.records.query<{ status: string }>("select distinct status from records.submissions where id = any($1)", [after]);
  expect(states).toEqual([{ status: "pending" }]);
  for (const id of after) await setStatus(id);
  await eventually(() => expect(after.map((id) => new Set(arrivalsOf(id)).size)).toEqual([2, 2, 2]), { timeoutMs: TIMEOUT_MS });
  for (const record of before) expect(new Set(arrivalsOf(record)).size).toBe(1);
}, 300_000);

it("sends nothing of a brand that was deleted after the backup of webhook, and keeps nothing of it", async () => {
  const { stack, db, receivers } = restore;
  const departed = await stack.createBrand();
  await seedBrand(stack, departed.id);
  await stack.addReceiver(departed, receivers.urlOf(REFUSING));
  await db.records.query("update records.submissions set status = 'approved' where brand_id = $1 and status = 'pending'", [departed.id]);
  const refused = (): number => receivers.arrivals.filter(({ receiver: number }) => number === REFUSING).length;
  await eventually(() => expect(refused()).toBeGreaterThan(0), { timeoutMs: TIMEOUT_MS });
  await dump("webhook");

  await stack.operator.beginBrandDeletion({ brand_id: departed.id, resume: false }, callContext());
  await end(["webhook"], "SIGTERM");
  await db.webhook.query("drop schema if exists webhook_before cascade");
  await restore.command("alter schema", "webhook", { SERVICE: "webhook" });
  await restore.command("pg_restore", "webhook", { SERVICE: "webhook" });

  const rows = () =>
    db.webhook.query<{ n: number }>(
      `select count(*)::int as n from webhook.brands where brand_id = $1
       union all select count(*)::int from webhook.receivers where brand_id = $1
       union all select count(*)::int from webhook.events where brand_id = $1
       union all select count(*)::int from webhook.deliveries where state in ('pending', 'sending')`,
      [departed.id],
    );
  const restored = await rows();
  expect(restored.map(({ n }) => n > 0)).toEqual([true, true, true, true]);
  await expect(rewind(startedAt, { "node services": "ACCOUNTS_ADDRESS=127.0.0.1:1 node services" })).rejects.toThrow(
    /exit code 1 of .*accounts \(ACCOUNTS_ADDRESS\) must run/s,
  );
  expect(await rows()).toEqual(restored);

  const before = refused();
  const report = await rewind();
  expect(report).toContain(`"brand_id":"${departed.id}"`);
  expect(report).toContain('"brands_deleted":1');
  await stack.restart("webhook");
  await untilDelivered(await approve(1));
  expect(refused()).toBe(before);
  expect((await rows()).map(({ n }) => n).slice(0, 3)).toEqual([0, 0, 0]);
}, 300_000);
