import { randomUUID } from "node:crypto";
import { openMaintenance } from "@brand-records/service-runtime";
import { openLog, openMetrics } from "@brand-records/telemetry";
import { eventually } from "@brand-records/testkit";
import { callContext, serveAccounts, type ServedAccounts } from "../test/serve-accounts.ts";
import { peopleOf } from "../test/people.ts";
import { startJanitor } from "./janitor.ts";

let served: ServedAccounts;
let people: ReturnType<typeof peopleOf>;
beforeAll(async () => {
  served = await serveAccounts();
  people = peopleOf(served);
});
afterAll(() => served.stop());

const countOf = async (table: string): Promise<number> =>
  (await served.db.query<{ n: number }>(`select count(*) as n from accounts.${table}`))[0]?.n ?? Number.NaN;
const janitor = () =>
  startJanitor({
    db: served.db,
    maintenance: openMaintenance(openLog("accounts", "silent"), openMetrics("accounts")),
    sessionLimits: { idleSeconds: 7_200, maxSeconds: 43_200 },
    auditKeepDays: 730,
    usageKeepDays: 31,
  });

it("deletes what is kept no longer, in several batches, by two processes at once, and nothing else", async () => {
  const { brand, email } = await people.newPerson();
  const [kept, expired] = [await people.session(email), await people.session(email)];
  await people.moveBack("sessions", "created_at", expired, 43_201);
  const [recent, old] = [await people.link(email), await people.link(email)];
  await people.moveBack("sign_in_links", "expires_at", recent, 6 * 86_400);
  await people.moveBack("sign_in_links", "expires_at", old, 8 * 86_400);
  await served.db.query(
    `insert into accounts.audit_entries (id, brand_id, action, fields, request_id, created_at)
     select 'aud_old' || n, $1, 'key.create', '{}', 'r', now() - interval '731 days' from generate_series(1, 2500) n`,
    [brand.id],
  );
  await served.db.query(
    `insert into accounts.audit_entries (id, brand_id, action, fields, request_id, created_at, outcome, finished_at)
     select * from (values
       ('aud_unfinished', 'brd_unfinished', 'brand.delete', '{}'::text[], 'r', now() - interval '900 days', null, null::timestamptz),
       ('aud_finished', 'brd_finished', 'brand.delete', '{}', 'r', now() - interval '900 days', 'done', now() - interval '729 days'),
       ('aud_old', 'brd_old', 'brand.delete', '{}', 'r', now() - interval '900 days', 'done', now() - interval '731 days')) e`,
  );
  await served.db.query(
    `insert into accounts.usage_minutes (brand_id, minute, key_id, accepted, refused)
     select $1, date_trunc('minute', now(), 'UTC') - interval '32 days' - make_interval(mins => n), 'key_1', 1, 0
       from generate_series(1, 2500) n`,
    [brand.id],
  );
  const { id: key_id } = await served.createKey(brand);
  const usage = { brand_id: brand.id, key_id, minute: new Date().toISOString(), accepted: 1, refused: 0 };
  const batch_id = randomUUID();
  await served.usage.recordUsage({ batch_id, minutes: [usage] }, callContext());
  await served.db.query("insert into accounts.usage_batches (id, recorded_at) values ($1, now() - interval '49 hours')", [randomUUID()]);

  const janitors = [janitor(), janitor()];
  await eventually(async () => expect([await countOf("usage_batches"), await countOf("usage_minutes")]).toEqual([1, 1]));
  await Promise.all(janitors.map((one) => one.stop()));

  await people.get(kept);
  expect(await countOf("sessions")).toBe(1);
  await expect(people.peek(recent)).rejects.toMatchObject({ kind: "sign_in_link_expired" });
  await expect(people.peek(old)).rejects.toMatchObject({ kind: "sign_in_link_unknown" });
  expect(await served.db.query("select id from accounts.audit_entries where id like 'aud_old%'")).toEqual([]);
  expect(await served.db.query("select id from accounts.audit_entries where action = 'brand.delete' order by id")).toEqual([
    { id: "aud_finished" },
    { id: "aud_unfinished" },
  ]);
  expect(await countOf("audit_entries")).toBeGreaterThan(2);
});
