import { ConfigError } from "@brand-records/config";
import { openRedis, rememberCommittedEpochs, type RedisClient } from "@brand-records/redis";
import { openLog } from "@brand-records/telemetry";
import { startRedisServer, type RedisServer } from "@brand-records/testkit";
import { servedAccounts } from "../../../test/serve-accounts.ts";
import { acceptRestored } from "../../storage/restored.ts";
import { requireNotRestored } from "./require-not-restored.ts";

const log = openLog("accounts", "silent");
const served = servedAccounts();
let server: RedisServer;
let redis: RedisClient;
beforeAll(async () => {
  server = await startRedisServer();
  redis = openRedis(server.url, { commandTimeoutMs: 5_000 });
  await redis.firstContact;
});
beforeEach(() => redis.run("any", (commands) => commands.flushall()));
afterAll(async () => {
  await redis.stop();
  await server.stop();
});

const check = (through: RedisClient | undefined = redis): Promise<void> => requireNotRestored(served.db, through, log);

it("lets a new database and one in use start, any number of times, with Redis and without", async () => {
  const brand = await served.createBrand();
  await rememberCommittedEpochs(redis, new Map([[brand.id, await served.epochOf(brand)]]));
  await Promise.all(Array.from({ length: 8 }, () => check()));
  await check(undefined);
});

it("refuses a database that the restore steps have marked, until they are done", async () => {
  await served.db.query("create table accounts.restored_from_backup ()");
  await expect(check()).rejects.toThrow(ConfigError);
  await expect(check(undefined)).rejects.toThrow(/accounts\.restored_from_backup.*after-restore\.js/);
  await acceptRestored(served.db);
  await check();
});

it("refuses a schema that was made from a dump of another one", async () => {
  await check();
  // What pg_restore does: the same rows in another table.
  await served.db.query("update accounts.origin set brands_oid = 'accounts.keys'::regclass");
  await expect(check(undefined)).rejects.toThrow(/copy of another/);
  await acceptRestored(served.db);
  await check(undefined);
});

it("refuses a database that lacks what Redis remembers as committed", async () => {
  const [brand, other] = [await served.createBrand(), await served.createBrand()];
  const epoch = await served.epochOf(brand);
  await rememberCommittedEpochs(redis, new Map([[brand.id, epoch + 1]]).set(other.id, await served.epochOf(other)));
  await expect(check()).rejects.toThrow(new RegExp(`lacks a change to brand ${brand.id}`));
  await served.db.query("update accounts.brands set epoch = $2 where id = $1", [brand.id, epoch + 1]);
  await check();
});

it("ignores brands that are not here: another deployment may use the same Redis", async () => {
  await rememberCommittedEpochs(redis, new Map([["brd_elsewhere", Date.now() + 86_400_000]]));
  await check();
});

it("starts without Redis' word while Redis is away, or refuses the command", async () => {
  await redis.run("any", (commands) => commands.set("committed:epochs", "of another type"));
  await check();
  const away = openRedis("redis://127.0.0.1:1", { commandTimeoutMs: 500 });
  await check(away);
  await away.stop();
});
