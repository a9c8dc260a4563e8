import type { Database } from "@brand-records/postgres";
import { openMaintenance } from "@brand-records/service-runtime";
import { openLog, openMetrics } from "@brand-records/telemetry";
import { eventually } from "@brand-records/testkit";
import { serveAccounts, type ServedAccounts } from "../../test/serve-accounts.ts";
import { type CommittedEpochs, type EpochPublisher, startEpochRepublisher } from "./epoch-publisher.ts";

const maintenance = openMaintenance(openLog("accounts", "silent"), openMetrics("accounts"));
let served: ServedAccounts;
beforeEach(async () => {
  served = await serveAccounts();
});
afterEach(() => served.stop());

/** Loses publications while it is unavailable. */
class LossyPublisher implements Pick<EpochPublisher, "publish">, CommittedEpochs {
  isUnavailable = false;
  attempts = 0;
  readonly epochs = new Map<string, number>();
  remembered: ReadonlyMap<string, number> = new Map();

  async remember(epochs: ReadonlyMap<string, number>): Promise<boolean> {
    this.remembered = epochs;
    return true;
  }

  async publish(brandId: string, epoch: number): Promise<boolean> {
    this.attempts += 1;
    if (this.isUnavailable) return false;
    this.epochs.set(brandId, epoch);
    return true;
  }
}

it("repeats a lost publication with the current epoch", async () => {
  const brand = await served.createBrand();
  const publisher = new LossyPublisher();
  publisher.isUnavailable = true;
  const republisher = startEpochRepublisher(served.db, publisher, maintenance);
  await eventually(() => expect(publisher.attempts).toBeGreaterThan(0));
  await served.createKey(brand);
  publisher.isUnavailable = false;
  const epoch = await served.epochOf(brand);
  await eventually(() => expect(publisher.epochs.get(brand.id)).toBe(epoch));
  await republisher.stop();
});

it("publishes every epoch repeatedly, because Redis may lose it", async () => {
  const brand = await served.createBrand();
  const publisher = new LossyPublisher();
  const republisher = startEpochRepublisher(served.db, publisher, maintenance);
  await eventually(() => expect(publisher.epochs.has(brand.id)).toBe(true));
  publisher.epochs.clear();
  await eventually(() => expect(publisher.epochs.has(brand.id)).toBe(true));
  await republisher.stop();
});

it("publishes every epoch of the last ten minutes, and no older one", async () => {
  const idle = await served.createBrand();
  await served.db.query("update accounts.brands set epoch_changed_at = now() - interval '1 hour' where id = $1", [idle.id]);
  await served.db.query(
    "insert into accounts.brands (id, name, tier, verified) select 'brd_many' || i, 'Brand', 'plus', true from generate_series(1, 250) i",
  );
  const publisher = new LossyPublisher();
  const republisher = startEpochRepublisher(served.db, publisher, maintenance);
  await eventually(() => expect(publisher.epochs.size).toBe(250));
  await republisher.stop();
  expect(publisher.epochs.has(idle.id)).toBe(false);
});

it("remembers what the database has, and nothing that was rolled back", async () => {
  const brand = await served.createBrand();
  const publisher = new LossyPublisher();
  const republisher = startEpochRepublisher(served.db, publisher, maintenance);
  const rolledBack = served.db.transaction(async (sql) => {
    await sql.query("update accounts.brands set epoch = epoch + 1000000 where id = $1", [brand.id]);
    publisher.remembered = new Map();
    await eventually(() => expect(publisher.remembered.size).toBe(1));
    throw new Error("rolled back");
  });
  await expect(rolledBack).rejects.toThrow("rolled back");
  expect(publisher.remembered).toEqual(new Map([[brand.id, await served.epochOf(brand)]]));
  await republisher.stop();
});

it("continues after a database failure", async () => {
  const brand = await served.createBrand();
  const publisher = new LossyPublisher();
  let queries = 0;
  const query: Database["query"] = async (...parameters) => {
    queries += 1;
    if (queries === 1) throw new Error("the database is unavailable");
    return served.db.query(...parameters);
  };
  const republisher = startEpochRepublisher({ ...served.db, query }, publisher, maintenance);
  await eventually(() => expect(publisher.epochs.has(brand.id)).toBe(true));
  await republisher.stop();
});
