import { AppError } from "@brand-records/errors";
import type { Database } from "@brand-records/postgres";
import { eventually } from "@brand-records/testkit";
import { recordNothing } from "../../test/serve-receivers.ts";
import { serveClaims, type ServedClaims } from "../../test/serve-claims.ts";
import { newEvents } from "../../test/add-events.ts";
import { intercepted } from "../../test/intercepted.ts";
import { startReceivingServer, type ReceivingServer } from "../../test/receiving-server.ts";
import { replayBatch } from "../replaying/replay-batch.ts";
import { endExpiredLeases } from "../sending/expired-leases.ts";
import { disableReceiver, enableReceiver, sendWaiting } from "../use-cases/enable-receiver.ts";
import { replayDelivery } from "../use-cases/replay-delivery.ts";
import { replayEvents } from "../use-cases/replay-events.ts";
import { sendTest } from "../use-cases/send-test.ts";
import { storeEvents } from "../use-cases/store-events.ts";
import { abandonDeliveries, claimDeliveries, returnClaims } from "./claims.ts";
import { dueBy, passDeadEntries } from "./lane-bound.ts";

/** One promise: no bound hides a delivery. */

let server: ReceivingServer;
let served: ServedClaims;
beforeEach(async () => {
  server = await startReceivingServer();
  served = await serveClaims();
});
afterEach(async () => {
  await served.stop();
  await server.stop();
});

it("a try that is given up uses up nothing of what its process may take", async () => {
  await served.addAtOnce(40, "a");
  let tries = 0;
  const slowOnce: Database = Object.assign(Object.create(served.db) as Database, {
    transaction: ((work, options) =>
      served.db.transaction(async (sql) => {
        const result = await work(sql);
        if ((tries += 1) === 1) throw new AppError("timeout", "injected");
        return result;
      }, options)) satisfies Database["transaction"],
  });
  let left = 4;
  const room = {
    take(_: string, wanted: number): number {
      const taken = Math.min(left, wanted);
      left -= taken;
      return taken;
    },
    retry: () => void (left = 4),
  };
  expect(await claimDeliveries(slowOnce, { max: 100, leaseSeconds: 60, failing: true, room })).toHaveLength(4);
});

/** Does something between the walk over dead entries and the move of the bound. */
const beforeMove = (work: () => Promise<unknown>): Database =>
  intercepted(served.sending.db, ({ name }) => name === "claim_bounds.move" && work());

/** A delivery becomes pending, as every statement makes it. */
async function arrive(id: string, due: string): Promise<void> {
  await served.sending.db.query(`update webhook.lanes l set ${dueBy("$2::timestamptz")} where l.receiver_id = $1`, [
    served.receiver.id,
    due,
  ]);
  await served.sending.db.query(
    "insert into webhook.deliveries (id, receiver_id, event_id, event_created_at, event_type, due_at) values ($2, $1, 'evt_0', now(), 'payout.paid', $3)",
    [served.receiver.id, id, due],
  );
}

const INSTANT = "2026-01-01T00:00:00Z";
const boundOf = async (): Promise<unknown> => {
  const bound = "select next_due, bound_due = next_due as has_id, bound_id from webhook.lanes where receiver_id = $1";
  return (await served.sending.db.query(bound, [served.receiver.id]))[0];
};

it.each([
  ["at the same instant", INSTANT],
  ["earlier", "2025-12-31T00:00:00Z"],
])("a bound that is moved hides nothing that arrived meanwhile %s", async (_, due) => {
  await served.addAtOnce(1, "a");
  await passDeadEntries(
    beforeMove(() => arrive("dlv_0", due)),
    served.receiver.id,
  );
  expect(await served.hidden()).toEqual([]);
  expect((await served.claim()).map(({ id }) => id)).toEqual(["dlv_0", "dlv_a00000001"]);
});

it("moves a bound although deliveries arrive all the time, and behind what was found if that is gone", async () => {
  await served.addAtOnce(1, "a");
  await passDeadEntries(
    beforeMove(() => arrive("dlv_0", "2026-01-02T00:00:00Z")),
    served.receiver.id,
  );
  expect(await boundOf()).toEqual({ next_due: "2026-01-01T00:00:00.000Z", has_id: true, bound_id: "dlv_a00000001" });
  await served.sending.db.query("delete from webhook.deliveries");
  await passDeadEntries(
    beforeMove(() => arrive("dlv_1", "2026-01-03T00:00:00Z")),
    served.receiver.id,
  );
  expect(await boundOf()).toMatchObject({ next_due: "2026-01-03T00:00:00.000Z" });
  expect((await served.claim()).map(({ id }) => id)).toEqual(["dlv_1"]);
});

it("moves no bound by a walk during which another began: that one has forgotten what arrived before it", async () => {
  await served.addAtOnce(1, "a");
  const both = async (): Promise<void> => {
    await arrive("dlv_0", "2025-12-31T00:00:00Z");
    await served.sending.db.query("update webhook.lanes set walks = walks + 1, arrived_due = 'infinity' where receiver_id = $1", [
      served.receiver.id,
    ]);
  };
  await passDeadEntries(beforeMove(both), served.receiver.id);
  expect(await served.hidden()).toEqual([]);
});

it("every operation keeps the bound", async () => {
  const other = await served.sending.createReceiver(server.url, { brand: served.receiver.brand });
  const key = { brandId: served.receiver.brand, receiverId: served.receiver.id };
  const operations: Record<string, () => Promise<unknown>> = {
    "adding of one instant": () => served.addAtOnce(200, "a"),
    adding: () => served.sending.deliver([served.receiver, other], 5),
    claiming: served.claim,
    "returning claims": async () => {
      const claimed = await served.claim();
      expect(claimed.length).toBeGreaterThan(0);
      await returnClaims(served.db, claimed);
    },
    "abandoning claims": async () => abandonDeliveries(served.db, (await served.claim()).slice(0, 1)),
    "ending leases": async () => {
      await served.claim();
      await served.db.query("update webhook.deliveries set lease_until = now() - interval '1 s' where state = 'sending'");
      await endExpiredLeases(served.db, { leaseSeconds: 60, attemptsMax: 10 });
    },
    "sending again": async () => {
      const [pending] = await served.db.query<{ id: string }>(
        "select id from webhook.deliveries where state = 'pending' and receiver_id = $1 order by due_at desc limit 1",
        [served.receiver.id],
      );
      await replayDelivery(served.sending.db, { brandId: served.receiver.brand, deliveryId: pending?.id ?? "" }, recordNothing);
    },
    disabling: () => disableReceiver(served.sending.db, key, recordNothing),
    "adding while it is disabled": () => served.sending.deliver([served.receiver], 5),
    enabling: () => enableReceiver(served.sending.db, key, "release", recordNothing),
    "disabling again": () => disableReceiver(served.sending.db, key, recordNothing),
    dropping: () => enableReceiver(served.sending.db, key, "drop", recordNothing),
    "adding after that": () => served.sending.deliver([served.receiver], 5),
    "sending and retrying": async () => {
      const sender = served.sending.start({ retryDelaysSeconds: [60] });
      await eventually(() => expect(server.requests.length).toBeGreaterThan(0));
      await sender.stop();
    },
    "storing events": () => storeEvents(served.sending.db, newEvents(key.brandId, 3)),
    "storing events while others wait": () => storeEvents(served.sending.db, newEvents(key.brandId, 100)),
    "storing events with first attempts": async () => {
      const sender = served.sending.start({ retryDelaysSeconds: [60] });
      await storeEvents(served.sending.db, newEvents(key.brandId, 3), sender);
      await sender.stop();
    },
    testing: () => sendTest(served.sending.db, key, recordNothing),
    "sending all that waits": () => sendWaiting(served.sending.db, key, true, recordNothing, { chunkRows: 2 }),
    "repeating what is finished": async () => {
      const [finished] = await served.db.query<{ id: string }>("select id from webhook.past_deliveries where state = 'delivered' limit 1");
      await replayDelivery(served.sending.db, { brandId: key.brandId, deliveryId: finished?.id ?? "" }, recordNothing);
    },
    replaying: async () => {
      const since = new Date(Date.now() - 3_600_000).toISOString();
      await replayEvents(served.sending.db, { ...key, since, until: null, failedOnly: false }, recordNothing);
      expect(await replayBatch(served.sending.db, [])).toMatchObject({ queued: expect.any(Number) as number });
    },
    "claiming at the end": served.claim,
  };
  for (const [name, operation] of Object.entries(operations)) {
    await operation();
    expect([name, await served.hidden()]).toEqual([name, []]);
  }
});
