import { openPool } from "@brand-records/postgres";
import { serveClaims, SET_UP_MS, type ServedClaims } from "../../test/serve-claims.ts";
import { abandonDeliveries, type ClaimedDelivery } from "./claims.ts";
import { IN_FLIGHT_MAX } from "../domain/lane.ts";
import { hastenPending } from "./pending-deliveries.ts";
import { hasPendingBeyond } from "./replays.ts";

/** One promise: claims, and what else reads a lane while it has the lane locked, cost the same whatever is dead. */

const DEAD = 200_000;

let served: ServedClaims;
beforeEach(async () => {
  served = await serveClaims();
});
afterEach(() => served.stop());

async function buffersOf(work: () => Promise<unknown>): Promise<number> {
  const read = async (): Promise<number> => {
    await served.db.query("select pg_stat_force_next_flush()");
    const [row] = await served.db.query<{ n: number }>(
      `select (heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::int as n
         from pg_statio_user_tables where relid = 'webhook.deliveries'::regclass`,
    );
    return row?.n ?? 0;
  };
  const before = await read();
  await work();
  return (await read()) - before;
}

/** Keeps everything that is deleted from now on in the indexes. */
async function withOlderSnapshot(work: () => Promise<void>): Promise<void> {
  const older = openPool({ url: served.sending.databaseUrl, max: 1, applicationName: "older snapshot" });
  try {
    await older.query("set idle_in_transaction_session_timeout = 0");
    await older.query("begin isolation level repeatable read");
    await older.query("select count(*) from webhook.lanes");
    await work();
    await older.query("rollback");
  } finally {
    await older.stop();
  }
}

/** Leaves one pending delivery behind 200,000 that were deleted under an older snapshot. */
async function withDeletedBacklog(work: () => Promise<void>): Promise<void> {
  await served.db.query("alter table webhook.deliveries set (autovacuum_enabled = false)");
  await served.addAtOnce(DEAD, "a");
  await served.db.query("vacuum analyze webhook.deliveries");
  await withOlderSnapshot(async () => {
    await served.db.query("delete from webhook.deliveries");
    await served.addAtOnce(1, "b");
    await work();
  });
}

const ROUNDS = 200;
/** Blocks for each delivery that is made due: 13, and 28 if each chunk walks over those before it. */
const HASTEN_BUFFERS_MAX = 20;

it(
  "the 200th claim reads as much as the first, while an older snapshot keeps what was sent, all of one instant",
  async () => {
    await served.db.query("alter table webhook.deliveries set (autovacuum_enabled = false)");
    await served.addAtOnce(20_000, "a");
    await served.db.query("vacuum analyze webhook.deliveries");
    await withOlderSnapshot(async () => {
      const reads: number[] = [];
      const sent: string[] = [];
      for (let round = 1; round <= ROUNDS; round += 1) {
        let claimed: ClaimedDelivery[] = [];
        reads.push(await buffersOf(async () => void (claimed = await served.claim())));
        sent.push(...claimed.map(({ id }) => id));
        await abandonDeliveries(served.db, claimed);
      }
      expect(sent).toEqual(Array.from({ length: ROUNDS * IN_FLIGHT_MAX }, (_, n) => `dlv_a${String(n + 1).padStart(8, "0")}`));
      const [first = 0, ...others] = reads;
      expect(Math.max(...others)).toBeLessThan(2 * first);
      expect(await served.hidden()).toEqual([]);
    });
  },
  SET_UP_MS,
);

it(
  "a claim that takes too long gives up its lanes, passes what is dead without a lock, and claims the rest",
  async () => {
    await withDeletedBacklog(async () => {
      const slow: number[] = [];
      const claimed = await served.claim({ claimMsMax: 1, onSlow: (lanes) => void slow.push(lanes) });
      expect(slow.length).toBeGreaterThan(0);
      expect(slow).toEqual([16, 8, 4, 2, 1].slice(0, slow.length));
      expect(claimed.map(({ id }) => id)).toEqual(["dlv_b00000001"]);
      // What is dead is behind the bound.
      expect(await buffersOf(served.claim)).toBeLessThan(100);
    });
  },
  SET_UP_MS,
);

it(
  "passes what is dead also when the next try does not get the lane, as intake has it locked",
  async () => {
    await withDeletedBacklog(async () => {
      let tries = 0;
      const room = { take: (_: string, wanted: number): number => ((tries += 1) === 1 ? wanted : 0), retry: () => {} };
      expect(await served.claim({ claimMsMax: 1, room })).toEqual([]);
      let claimed: ClaimedDelivery[] = [];
      expect(await buffersOf(async () => void (claimed = await served.claim()))).toBeLessThan(100);
      expect(claimed.map(({ id }) => id)).toEqual(["dlv_b00000001"]);
    });
  },
  SET_UP_MS,
);

it(
  "a replay looks at nothing that was sent, to see how much waits",
  async () => {
    await withDeletedBacklog(async () => {
      expect(await served.claim()).toHaveLength(1);
      expect(await buffersOf(() => hasPendingBeyond(served.db, served.receiver.id, 10_000))).toBeLessThan(100);
    });
  },
  SET_UP_MS,
);

it(
  "making what waits due reads as much for each delivery, however many came before it",
  async () => {
    const [rows, chunkRows] = [20_000, 50];
    await served.db.query("alter table webhook.deliveries set (autovacuum_enabled = false)");
    await served.addAtOnce(rows, "a");
    await served.db.query("update webhook.deliveries set due_at = now() + interval '1 hour', created_at = now() - interval '1 hour'");
    await served.db.query("vacuum analyze webhook.deliveries");
    await withOlderSnapshot(async () => {
      const [row] = await served.db.query<{ now: string }>("select now()::text as now");
      const key = { brandId: served.receiver.brand, receiverId: served.receiver.id };
      const read = await buffersOf(() => hastenPending(served.db, key, row?.now ?? "", { chunkRows }));
      expect(await served.db.query("select from webhook.deliveries where due_at > now()")).toEqual([]);
      // Two walks: the second, over what is dead, looks for what came meanwhile.
      expect(read / rows).toBeLessThan(HASTEN_BUFFERS_MAX);
    });
  },
  SET_UP_MS,
);
