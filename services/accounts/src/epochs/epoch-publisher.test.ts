import type { Database } from "@brand-records/postgres";
import { openRedis } from "@brand-records/redis";
import { Registry } from "@brand-records/telemetry";
import { eventually, sendRedisCommand, startRedisServer } from "@brand-records/testkit";
import { KeptEpochs, startTestRepublisher } from "../../test/kept-epochs.ts";
import { servedAccounts } from "../../test/serve-accounts.ts";
import { redisEpochPublisher } from "./epoch-publisher.ts";

const served = servedAccounts();

it.each([
  ["takes", "+@all", [true, true, true], 0],
  ["refuses", "-@all +info +ping", [false, false, false], 3],
])(
  "counts what a Redis that %s its commands (%s) does not take, as nothing else of accounts fails with it",
  async (_, rights, done, failures) => {
    const server = await startRedisServer();
    await sendRedisCommand(server.url, `ACL SETUSER accounts on >secret ~* &* ${rights}`);
    const url = new URL(server.url);
    url.username = "accounts";
    url.password = "secret";
    const lines: string[] = [];
    const log = { info: () => {}, warn: (_fields: object, message: string) => void lines.push(message) };
    const redis = openRedis(url.href, { log, commandTimeoutMs: 20_000 });
    await redis.firstContact;
    const metrics = new Registry();
    const publisher = redisEpochPublisher(redis, log, metrics);
    expect([
      await publisher.publish("brd_1", 2),
      await publisher.remember(new Map([["brd_1", 2]])),
      await publisher.forget("brd_1"),
    ]).toEqual(done);
    const failed = await metrics.getSingleMetric("epoch_publications_failed_total")?.get();
    expect([failed?.values[0]?.value, lines.length > 0]).toEqual([failures, failures > 0]);
    await redis.stop();
    await server.stop();
  },
);

describe("the republisher", () => {
  it("repeats a lost publication with the current epoch, and every other one, because Redis may lose it", async () => {
    const brand = await served.createBrand();
    const publisher = new KeptEpochs();
    publisher.isUnavailable = true;
    const republisher = startTestRepublisher(served.db, publisher);
    await eventually(() => expect(publisher.tries).not.toEqual([]));
    await served.createKey(brand);
    publisher.isUnavailable = false;
    const epoch = await served.epochOf(brand);
    await eventually(() => expect(publisher.published.get(brand.id)).toBe(epoch));
    publisher.published.clear();
    await eventually(() => expect(publisher.published.get(brand.id)).toBe(epoch));
    await republisher.stop();
  });

  it("publishes every epoch of the last ten minutes, and no older one, also after a database failure", async () => {
    const idle = await served.createBrand();
    await served.db.query("update accounts.brands set epoch_changed_at = now() - interval '1 hour' where id = $1", [idle.id]);
    await served.db.query(
      "insert into accounts.brands (id, name, tier, verified) select 'brd_many' || i, 'Brand', 'plus', true from generate_series(1, 250) i",
    );
    let queries = 0;
    const query: Database["query"] = async (...parameters) => {
      queries += 1;
      if (queries === 1) throw new Error("the database is unavailable");
      return served.db.query(...parameters);
    };
    const publisher = new KeptEpochs();
    const republisher = startTestRepublisher({ ...served.db, query }, publisher);
    await eventually(() => expect([...publisher.published.keys()].filter((id) => id.startsWith("brd_many"))).toHaveLength(250));
    await republisher.stop();
    expect(publisher.published.has(idle.id)).toBe(false);
  });

  it("remembers what the database has, and nothing that was rolled back", async () => {
    const brand = await served.createBrand();
    const publisher = new KeptEpochs();
    const rolledBack = served.db.transaction(async (sql) => {
      await sql.query("update accounts.brands set epoch = epoch + 1000000 where id = $1", [brand.id]);
      const republisher = startTestRepublisher(served.db, publisher);
      await eventually(() => expect(publisher.remembered.has(brand.id)).toBe(true));
      await republisher.stop();
      throw new Error("rolled back");
    });
    await expect(rolledBack).rejects.toThrow("rolled back");
    expect(publisher.remembered.get(brand.id)).toBe(await served.epochOf(brand));
  });
});
