import { AppError } from "@brand-records/errors";
import { openPool, type Database } from "@brand-records/postgres";
import { eventually } from "@brand-records/testkit";
import { serveSending, type MadeReceiver, type ServedSending } from "../../test/serve-sending.ts";
import { startReceivingServer, type ReceivingServer } from "../../test/receiving-server.ts";
import { endExpiredLeases } from "../sending/expired-leases.ts";
import { enableReceiver, disableReceiver } from "../use-cases/enable-receiver.ts";
import { replayDelivery } from "../use-cases/replay-delivery.ts";
import { abandonDeliveries, claimDeliveries, returnClaims, type ClaimedDelivery } from "./claims.ts";
import { passDeadEntries, repairBounds } from "./claim-bounds.ts";
import { ROOM_MAX } from "./lanes-to-serve.ts";
import { BOUND, dueBy } from "./lanes.ts";

/** One promise: a claim costs the same whatever is dead, and no bound hides a delivery. */

const DEAD = 200_000;
const SET_UP_MS = 120_000;

let sending: ServedSending;
let receiver: MadeReceiver;
let db: Database;
let server: ReceivingServer;
beforeEach(async () => {
  server = await startReceivingServer();
  sending = await serveSending();
  // One connection: its statistics are visible to itself at once.
  db = openPool({ url: sending.databaseUrl, max: 1, applicationName: "claims", statementTimeoutMs: SET_UP_MS });
  receiver = await sending.createReceiver("http://127.0.0.1:1/");
  await db.query("update webhook.lanes set max_in_flight = 64");
});
afterEach(async () => {
  await db.stop();
  await sending.stop();
  await server.stop();
});

const claim = (more: Partial<Parameters<typeof claimDeliveries>[1]> = {}): Promise<ClaimedDelivery[]> =>
  claimDeliveries(db, { max: 100, leaseSeconds: 60, failing: true, ...more });

/** Ids of pending deliveries that come before the bound of their lane. */
const hidden = (): Promise<unknown[]> =>
  sending.db.query(
    `select d.id from webhook.deliveries d join webhook.lanes l using (receiver_id) where d.state = 'pending' and (d.due_at, d.id) < ${BOUND}`,
  );

/** Adds pending deliveries, all of one instant, as an import makes them. */
const addAtOnce = (count: number, prefix: string): Promise<unknown> =>
  db.query(
    `with added as (
       insert into webhook.deliveries (id, receiver_id, event_id, event_created_at, event_type, due_at)
       select 'dlv_' || $3 || lpad(n::text, 8, '0'), $1, 'evt_' || n, now(), 'payout.paid', '2026-01-01T00:00:00Z' from generate_series(1, $2::int) n)
     update webhook.lanes set next_due = '2026-01-01T00:00:00Z', bound_due = '-infinity' where receiver_id = $1`,
    [receiver.id, count, prefix],
  );

async function buffersOf(work: () => Promise<unknown>): Promise<number> {
  const read = async (): Promise<number> => {
    await db.query("select pg_stat_force_next_flush()");
    const [row] = await db.query<{ n: number }>(
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
  const older = openPool({ url: sending.databaseUrl, max: 1, applicationName: "older snapshot" });
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
  await db.query("alter table webhook.deliveries set (autovacuum_enabled = false)");
  await addAtOnce(DEAD, "a");
  await db.query("vacuum analyze webhook.deliveries");
  await withOlderSnapshot(async () => {
    await db.query("delete from webhook.deliveries");
    await addAtOnce(1, "b");
    await work();
  });
}

const ROUNDS = 200;

it(
  "the 200th claim reads as much as the first, while an older snapshot keeps what was sent, all of one instant",
  async () => {
    await db.query("alter table webhook.deliveries set (autovacuum_enabled = false)");
    await addAtOnce(20_000, "a");
    await db.query("vacuum analyze webhook.deliveries");
    await withOlderSnapshot(async () => {
      const reads: number[] = [];
      const sent: string[] = [];
      for (let round = 1; round <= ROUNDS; round += 1) {
        let claimed: ClaimedDelivery[] = [];
        reads.push(await buffersOf(async () => void (claimed = await claim())));
        sent.push(...claimed.map(({ id }) => id));
        await abandonDeliveries(db, claimed);
      }
      expect(sent).toEqual(Array.from({ length: ROUNDS * ROOM_MAX }, (_, n) => `dlv_a${String(n + 1).padStart(8, "0")}`));
      const [first = 0, ...others] = reads;
      expect(Math.max(...others)).toBeLessThan(2 * first);
      expect(await hidden()).toEqual([]);
    });
  },
  SET_UP_MS,
);

it(
  "a claim that takes too long gives up its lanes, passes what is dead without a lock, and claims the rest",
  async () => {
    await withDeletedBacklog(async () => {
      const slow: number[] = [];
      const claimed = await claim({ claimMsMax: 1, onSlow: (lanes) => void slow.push(lanes) });
      expect(slow.length).toBeGreaterThan(0);
      expect(slow).toEqual([16, 8, 4, 2, 1].slice(0, slow.length));
      expect(claimed.map(({ id }) => id)).toEqual(["dlv_b00000001"]);
      // What is dead is behind the bound.
      expect(await buffersOf(claim)).toBeLessThan(100);
    });
  },
  SET_UP_MS,
);

it(
  "passes what is dead also when the next try does not get the lane, as intake has it locked",
  async () => {
    await withDeletedBacklog(async () => {
      let tries = 0;
      const takes = () => ({ take: (_: string, room: number): number => ((tries += 1) === 1 ? room : 0) });
      expect(await claim({ claimMsMax: 1, takes })).toEqual([]);
      let claimed: ClaimedDelivery[] = [];
      expect(await buffersOf(async () => void (claimed = await claim()))).toBeLessThan(100);
      expect(claimed.map(({ id }) => id)).toEqual(["dlv_b00000001"]);
    });
  },
  SET_UP_MS,
);

it("a try that is given up uses up nothing of what its process may take", async () => {
  await addAtOnce(40, "a");
  let tries = 0;
  const slowOnce: Database = Object.assign(Object.create(db) as Database, {
    transaction: ((work, options) =>
      db.transaction(async (sql) => {
        const result = await work(sql);
        if ((tries += 1) === 1) throw new AppError("timeout", "injected");
        return result;
      }, options)) satisfies Database["transaction"],
  });
  const takes = (): { take(receiverId: string, room: number): number } => {
    let left = 4;
    return {
      take(_, room) {
        const taken = Math.min(left, room);
        left -= taken;
        return taken;
      },
    };
  };
  expect(await claimDeliveries(slowOnce, { max: 100, leaseSeconds: 60, failing: true, takes })).toHaveLength(4);
});

/** Does something between the walk over dead entries and the move of the bound. */
const beforeMove = (work: () => Promise<unknown>): Database =>
  Object.assign(Object.create(sending.db) as Database, {
    query: (async (statement, values) => {
      if (typeof statement !== "string" && statement.name === "claim_bounds.move") await work();
      return sending.db.query(statement, values);
    }) satisfies Database["query"],
  });

/** A delivery becomes pending, as every statement makes it. */
async function arrive(id: string, due: string): Promise<void> {
  await sending.db.query(`update webhook.lanes l set ${dueBy("$2::timestamptz")} where l.receiver_id = $1`, [receiver.id, due]);
  await sending.db.query(
    "insert into webhook.deliveries (id, receiver_id, event_id, event_created_at, due_at) values ($2, $1, 'evt_0', now(), $3)",
    [receiver.id, id, due],
  );
}

const INSTANT = "2026-01-01T00:00:00Z";
const boundOf = async (): Promise<unknown> =>
  (
    await sending.db.query("select next_due, bound_due = next_due as has_id, bound_id from webhook.lanes where receiver_id = $1", [
      receiver.id,
    ])
  )[0];

it.each([
  ["at the same instant", INSTANT],
  ["earlier", "2025-12-31T00:00:00Z"],
])("a bound that is moved hides nothing that arrived meanwhile %s", async (_, due) => {
  await addAtOnce(1, "a");
  await passDeadEntries(
    beforeMove(() => arrive("dlv_0", due)),
    receiver.id,
  );
  expect(await hidden()).toEqual([]);
  expect((await claim()).map(({ id }) => id)).toEqual(["dlv_0", "dlv_a00000001"]);
});

it("moves a bound although deliveries arrive all the time, and behind what was found if that is gone", async () => {
  await addAtOnce(1, "a");
  await passDeadEntries(
    beforeMove(() => arrive("dlv_0", "2026-01-02T00:00:00Z")),
    receiver.id,
  );
  expect(await boundOf()).toEqual({ next_due: "2026-01-01T00:00:00.000Z", has_id: true, bound_id: "dlv_a00000001" });
  await sending.db.query("delete from webhook.deliveries");
  await passDeadEntries(
    beforeMove(() => arrive("dlv_1", "2026-01-03T00:00:00Z")),
    receiver.id,
  );
  expect(await boundOf()).toMatchObject({ next_due: "2026-01-03T00:00:00.000Z" });
  expect((await claim()).map(({ id }) => id)).toEqual(["dlv_1"]);
});

it("moves no bound by a walk during which another began: that one has forgotten what arrived before it", async () => {
  await addAtOnce(1, "a");
  const both = async (): Promise<void> => {
    await arrive("dlv_0", "2025-12-31T00:00:00Z");
    await sending.db.query("update webhook.lanes set walks = walks + 1, arrived_due = 'infinity' where receiver_id = $1", [receiver.id]);
  };
  await passDeadEntries(beforeMove(both), receiver.id);
  expect(await hidden()).toEqual([]);
});

it("repairs a bound that a process of an earlier release left too high", async () => {
  await addAtOnce(40, "a");
  const claimed = await claim();
  expect(claimed.length).toBeLessThanOrEqual(ROOM_MAX);
  // As release 0.3.0 returns claims.
  await sending.db.query(
    "update webhook.deliveries set state = 'pending', attempt = 0, lease = null, lease_until = null where state = 'sending'",
  );
  await sending.db.query("update webhook.lanes set in_flight = 0, next_due = least(next_due, now())");
  expect(await hidden()).toHaveLength(claimed.length);
  expect(await repairBounds(sending.db)).toEqual([receiver.id]);
  expect(await hidden()).toEqual([]);
  expect(await repairBounds(sending.db)).toEqual([]);
  expect((await claim()).map(({ id }) => id)).toEqual(claimed.map(({ id }) => id));
});

it("every operation keeps the bound", async () => {
  const other = await sending.createReceiver(server.url, { brand: receiver.brand });
  const key = { brandId: receiver.brand, receiverId: receiver.id };
  const operations: Record<string, () => Promise<unknown>> = {
    "adding of one instant": () => addAtOnce(200, "a"),
    adding: () => sending.deliver([receiver, other], 5),
    claiming: claim,
    "returning claims": async () => {
      const claimed = await claim();
      expect(claimed.length).toBeGreaterThan(0);
      await returnClaims(db, claimed);
    },
    "abandoning claims": async () => abandonDeliveries(db, (await claim()).slice(0, 1)),
    "ending leases": async () => {
      await claim();
      await db.query("update webhook.deliveries set lease_until = now() - interval '1 s' where state = 'sending'");
      await endExpiredLeases(db, { leaseSeconds: 60, attemptsMax: 10 });
    },
    "sending again": async () => {
      const [pending] = await db.query<{ id: string }>(
        "select id from webhook.deliveries where state = 'pending' and receiver_id = $1 order by due_at desc limit 1",
        [receiver.id],
      );
      await replayDelivery(sending.db, { brandId: receiver.brand, deliveryId: pending?.id ?? "" });
    },
    disabling: () => disableReceiver(sending.db, key),
    "adding while it is disabled": () => sending.deliver([receiver], 5),
    enabling: () => enableReceiver(sending.db, key, "release"),
    "disabling again": () => disableReceiver(sending.db, key),
    dropping: () => enableReceiver(sending.db, key, "drop"),
    "adding after that": () => sending.deliver([receiver], 5),
    "sending and retrying": async () => {
      const sender = sending.start({ retryDelaysSeconds: [60] });
      await eventually(() => expect(server.requests.length).toBeGreaterThan(0));
      await sender.stop();
    },
    "claiming at the end": claim,
  };
  for (const [name, operation] of Object.entries(operations)) {
    await operation();
    expect([name, await hidden()]).toEqual([name, []]);
  }
});
