import { openRedis, publishEpoch, readEpoch, RedisUnavailable, type RedisClient } from "@brand-records/redis";
import { startRedisServer, type RedisServer } from "@brand-records/testkit";
import { expectRefusal, serveAccounts, type ServedAccounts, type TestBrand } from "../../../test/serve-accounts.ts";
import { peopleOf } from "../../../test/people.ts";
import type { AuditEntry } from "../../domain/audit-entry.ts";
import type { Key } from "../../domain/key.ts";
import { afterRestore, type AfterRestore } from "./after-restore.ts";

let served: ServedAccounts;
let server: RedisServer;
let redis: RedisClient;
beforeAll(async () => {
  [served, server] = await Promise.all([serveAccounts(), startRedisServer()]);
  redis = openRedis(server.url, { commandTimeoutMs: 5_000 });
  await redis.firstContact;
});
afterAll(async () => {
  await redis.stop();
  await server.stop();
  await served.stop();
});

async function run(through: RedisClient | undefined = redis): Promise<{ done: AfterRestore; keys: Key[]; unfinished: AuditEntry[] }> {
  const keys: Key[] = [];
  const unfinished: AuditEntry[] = [];
  const onKey = async (key: Key): Promise<void> => void keys.push(key);
  const ignore = async (): Promise<void> => {};
  const nothingLost = { audit: undefined, onTaken: ignore, onWithoutOwner: ignore, onOpen: ignore };
  const onUnfinished = async (entry: AuditEntry): Promise<void> => void unfinished.push(entry);
  const done = await afterRestore({ db: served.db, ownerDb: served.db, redis: through, ...nothingLost, onKey, onUnfinished });
  return { done, keys, unfinished };
}

/** Ten at a time, as many as the pool has connections: on a busy machine others would wait too long for one. */
async function inTens<From, To>(items: readonly From[], work: (item: From) => Promise<To>): Promise<To[]> {
  const done: To[] = [];
  for (let at = 0; at < items.length; at += 10) done.push(...(await Promise.all(items.slice(at, at + 10).map(work))));
  return done;
}

const epochs = (brands: readonly TestBrand[]): Promise<number[]> => inTens(brands, (brand) => served.epochOf(brand));

it("raises every epoch above the database's and above Redis', also where Redis' is ahead of the clock, and publishes it", async () => {
  const brands = await inTens(Array.from({ length: 150 }), () => served.createBrand());
  const [ahead, behind] = brands as [TestBrand, TestBrand];
  const before = await epochs(brands);
  const future = Date.now() + 86_400_000;
  await publishEpoch(redis, ahead.id, future);
  await publishEpoch(redis, behind.id, 5);
  const { done } = await run();
  const after = await epochs(brands);
  expect(done.brands).toBe(150);
  for (const [i, epoch] of after.entries()) expect(epoch).toBeGreaterThan(before[i] ?? Number.NaN);
  expect(after[0]).toBe(future + 1);
  expect(await Promise.all(brands.map(({ id }) => readEpoch(redis, id)))).toEqual(after);
});

it("raises epochs above those that neither the database nor Redis remembers, of a server whose clock was up to a minute ahead", async () => {
  const brand = await served.createBrand();
  const forgotten = Date.now() + 59_000;
  await served.db.query("update accounts.brands set epoch = 5 where id = $1", [brand.id]);
  await run(undefined);
  expect(await served.epochOf(brand)).toBeGreaterThan(forgotten);
});

it("lets accounts publish the epochs for another ten minutes", async () => {
  const brand = await served.createBrand();
  await served.db.query("update accounts.brands set epoch_changed_at = now() - interval '1 day' where id = $1", [brand.id]);
  await run();
  const recent = await served.db.query("select from accounts.brands where id = $1 and epoch_changed_at > now() - interval '1 minute'", [
    brand.id,
  ]);
  expect(recent).toHaveLength(1);
});

it("lists the keys that work, and none that is revoked", async () => {
  const brand = await served.createBrand();
  const [works, revoked] = [await served.createKey(brand), await served.createKey(brand)];
  await served.accounts.revokeKey({ brand_id: brand.id, key_id: revoked.id, revoked_by: brand.owner });
  const { keys, done } = await run();
  expect(keys.filter(({ brand_id }) => brand_id === brand.id).map(({ id }) => id)).toEqual([works.id]);
  expect(done.keys).toBe(keys.length);
});

it("reports what had begun and not ended, and the newest change, after which the database knows nothing", async () => {
  const brand = await served.createBrand();
  const key = await served.createKey(brand);
  const entry = { brand_id: brand.id, actor: brand.owner, fields: [], request_id: "r", address: null, via: null };
  const begun = await served.audit.appendAudit({ ...entry, action: "key.revoke", subject_id: key.id });
  const ended = await served.audit.appendAudit({ ...entry, action: "key.revoke", subject_id: key.id });
  await served.audit.finishAudit({
    brand_id: brand.id,
    entry_id: ended.entry?.id ?? "",
    outcome: "done",
    error_kind: null,
    subject_id: null,
  });
  const { unfinished, done } = await run();
  expect(unfinished.filter(({ brand_id }) => brand_id === brand.id).map(({ id }) => id)).toEqual([begun.entry?.id]);
  expect(done.newest_change_at).toBe(ended.entry?.created_at);
  await served.db.query("update accounts.keys set last_used_at = '2099-01-01' where id = $1", [key.id]);
  expect((await run()).done.newest_change_at).toBe("2099-01-01T00:00:00.000Z");
});

it("ends every session and deletes every unused sign-in link: one that ended or was used after the backup would work again", async () => {
  const brand = await served.createBrand();
  const people = peopleOf(served);
  const [session, unused] = [await people.session(brand.owner), await people.link(brand.owner)];
  expect((await run()).done).toMatchObject({ sessions_ended: 1, links_deleted: 1 });
  await expectRefusal(people.get(session), "invalid_session");
  await expectRefusal(people.redeem(unused), "sign_in_link_unknown");
  expect((await run()).done).toMatchObject({ sessions_ended: 0, links_deleted: 0 });
});

it("fails while Redis is away, and completes when it is run again", async () => {
  const brand = await served.createBrand();
  await server.kill();
  await expect(run()).rejects.toThrow(RedisUnavailable);
  await server.start();
  const again = openRedis(server.url, { commandTimeoutMs: 5_000 });
  await again.firstContact;
  await run(again);
  expect(await readEpoch(again, brand.id)).toBe(await served.epochOf(brand));
  await again.stop();
});
