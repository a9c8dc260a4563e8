import { openLog } from "@brand-records/telemetry";
import { eventually } from "@brand-records/testkit";
import type { Database } from "@brand-records/postgres";
import { serveAccounts, type ServedAccounts } from "../../test/serve-accounts.ts";
import type { EpochPublisher } from "./epoch-publisher.ts";
import { startRepublisher } from "./republisher.ts";

const log = openLog("accounts", "silent");
let served: ServedAccounts;
beforeEach(async () => {
  served = await serveAccounts();
});
afterEach(() => served.stop());

/** Loses publications while it is away. */
class LossyBoard implements EpochPublisher {
  away = false;
  attempts = 0;
  readonly epochs = new Map<string, number>();

  async publish(brandId: string, epoch: number): Promise<boolean> {
    this.attempts += 1;
    if (this.away) return false;
    this.epochs.set(brandId, epoch);
    return true;
  }
}

it("makes up for a publication that was lost, with the epoch of now", async () => {
  const brand = await served.createBrand();
  const board = new LossyBoard();
  board.away = true;
  const republisher = startRepublisher(served.db, board, log);
  await eventually(() => expect(board.attempts).toBeGreaterThan(0));
  await served.createKey(brand);
  board.away = false;
  const epoch = await served.epochOf(brand);
  await eventually(() => expect(board.epochs.get(brand.id)).toBe(epoch));
  await republisher.stop();
});

it("publishes again and again, since a board may lose what it had, until it is stopped", async () => {
  const brand = await served.createBrand();
  const board = new LossyBoard();
  const republisher = startRepublisher(served.db, board, log);
  await eventually(() => expect(board.epochs.has(brand.id)).toBe(true));
  board.epochs.clear();
  await eventually(() => expect(board.epochs.has(brand.id)).toBe(true));
  await republisher.stop();
});

it("publishes every epoch of a busy hour, and none that changed long ago", async () => {
  const idle = await served.createBrand();
  await served.db.query("update accounts.brands set epoch_changed_at = now() - interval '1 hour' where id = $1", [idle.id]);
  await served.db.query(
    "insert into accounts.brands (id, name, tier, verified) select 'brd_many' || i, 'Brand', 'plus', true from generate_series(1, 250) i",
  );
  const board = new LossyBoard();
  const republisher = startRepublisher(served.db, board, log);
  await eventually(() => expect(board.epochs.size).toBe(250));
  await republisher.stop();
  expect(board.epochs.has(idle.id)).toBe(false);
});

it("goes on after the database was away", async () => {
  const brand = await served.createBrand();
  const board = new LossyBoard();
  let rounds = 0;
  const query: Database["query"] = async (...parameters) => {
    rounds += 1;
    if (rounds === 1) throw new Error("the database is away");
    return served.db.query(...parameters);
  };
  const republisher = startRepublisher({ ...served.db, query }, board, log);
  await eventually(() => expect(board.epochs.has(brand.id)).toBe(true));
  await republisher.stop();
});
