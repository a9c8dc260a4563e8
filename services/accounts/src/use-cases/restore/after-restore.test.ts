import { openRedis, publishEpoch, readEpoch, RedisUnavailable, type RedisClient } from "@brand-records/redis";
import { startRedisServer, type RedisServer } from "@brand-records/testkit";
import { peopleOf } from "../../../test/people.ts";
import { runAfterRestore } from "../../../test/run-after-restore.ts";
import { expectRefusal, servedAccounts } from "../../../test/serve-accounts.ts";

const served = servedAccounts();
const people = peopleOf(served);
let server: RedisServer;
let redis: RedisClient;
beforeAll(async () => {
  server = await startRedisServer();
  redis = openRedis(server.url, { commandTimeoutMs: 5_000 });
  await redis.firstContact;
});
afterAll(async () => {
  await redis.stop();
  await server.stop();
});

/** Returns the epochs of all brands, in the order of their ids. */
const epochs = async (): Promise<Map<string, number>> => {
  const rows = await served.db.query<{ id: string; epoch: number }>("select id, epoch from accounts.brands order by id");
  return new Map(rows.map(({ id, epoch }) => [id, epoch]));
};

it("raises every epoch above the database's and above Redis', also where Redis' is ahead of the clock, and publishes it", async () => {
  await served.db.query(
    "insert into accounts.brands (id, name, tier, verified) select 'brd_' || n, 'Brand', 'plus', true from generate_series(1, 150) n",
  );
  const before = await epochs();
  const future = Date.now() + 86_400_000;
  await publishEpoch(redis, "brd_1", future);
  await publishEpoch(redis, "brd_2", 5);
  expect(await runAfterRestore(served, { redis })).toMatchObject({ brands: 150 });
  const after = await epochs();
  for (const [id, epoch] of after) expect(epoch).toBeGreaterThan(before.get(id) ?? Number.NaN);
  expect(after.get("brd_1")).toBe(future + 1);
  expect(await Promise.all([...after.keys()].map((id) => readEpoch(redis, id)))).toEqual([...after.values()]);
});

it("raises epochs that nothing remembers, of a server whose clock was up to a minute ahead, and lets accounts publish them", async () => {
  const brand = await served.createBrand();
  const forgotten = Date.now() + 59_000;
  await served.db.query("update accounts.brands set epoch = 5, epoch_changed_at = now() - interval '1 day' where id = $1", [brand.id]);
  await runAfterRestore(served);
  expect(await served.epochOf(brand)).toBeGreaterThan(forgotten);
  const recent = "select from accounts.brands where id = $1 and epoch_changed_at > now() - interval '1 minute'";
  expect(await served.db.query(recent, [brand.id])).toHaveLength(1);
});

it("lists the keys that work, and none that is revoked", async () => {
  const brand = await served.createBrand();
  const [working, revoked] = [await served.createKey(brand), await served.createKey(brand)];
  await served.accounts.revokeKey({ key_id: revoked.id, revoked_by: brand.owner });
  const { works, keys } = await runAfterRestore(served);
  expect(works.filter(({ brand_id }) => brand_id === brand.id).map(({ id }) => id)).toEqual([working.id]);
  expect(keys).toBe(works.length);
});

it("reports the newest change, after which the database knows nothing", async () => {
  const brand = await served.createBrand();
  const { id } = await served.createKey(brand);
  const [newest] = (await served.audit.listAudit({ brand_id: brand.id, page_size: 1 })).entries;
  expect(await runAfterRestore(served)).toMatchObject({ newest_change_at: newest?.created_at });
  await served.db.query("update accounts.keys set last_used_at = '2099-01-01' where id = $1", [id]);
  expect(await runAfterRestore(served)).toMatchObject({ newest_change_at: "2099-01-01T00:00:00.000Z" });
});

it("ends every session and deletes every unused sign-in link: one that ended or was used after the backup would work again", async () => {
  const { email } = await people.newPerson();
  const [session, unused] = [await people.session(email), await people.link(email)];
  expect(await runAfterRestore(served)).toMatchObject({ sessions_ended: 1, links_deleted: 1 });
  await expectRefusal(people.get(session), "invalid_session");
  await expectRefusal(people.redeem(unused), "sign_in_link_unknown");
  expect(await runAfterRestore(served)).toMatchObject({ sessions_ended: 0, links_deleted: 0 });
});

it("fails while Redis is away, and completes when it is run again", async () => {
  const brand = await served.createBrand();
  await server.kill();
  await expect(runAfterRestore(served, { redis })).rejects.toThrow(RedisUnavailable);
  await server.start();
  const again = openRedis(server.url, { commandTimeoutMs: 5_000 });
  await again.firstContact;
  await runAfterRestore(served, { redis: again });
  expect(await readEpoch(again, brand.id)).toBe(await served.epochOf(brand));
  await again.stop();
});
