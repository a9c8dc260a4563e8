import type { Receiver } from "@brand-records/proto/webhook/v1";
import { eventually } from "@brand-records/testkit";
import { deleteOrphanedHours, dropOrphanedDeliveries } from "../use-cases/receivers.ts";
import { keyOf, newBrand, present, useReceivers } from "../../test/serve-receivers.ts";

/** Disabling, enabling and deleting a receiver, and what becomes of its pending deliveries. */

/** Deliveries dropped in one transaction. */
const chunkRows = 200;
/** More than two chunks. */
const many = 2.5 * chunkRows;

const served = useReceivers([], { chunks: { chunkRows } });

const disable = async (receiver: Receiver) => present((await served.receivers.disableReceiver(keyOf(receiver))).receiver);
const enable = (receiver: Receiver, held: string) => served.receivers.enableReceiver({ ...keyOf(receiver), held });
const remove = (receiver: Receiver) => served.receivers.deleteReceiver(keyOf(receiver));

interface Lane {
  readonly held: boolean;
  /** No pending delivery is due before the lane is. */
  readonly bounds: boolean;
}

const laneOf = async ({ id }: Receiver): Promise<Lane | undefined> =>
  (
    await served.db.query<Lane>(
      `select held, next_due <= coalesce((select min(due_at) from webhook.deliveries where receiver_id = $1 and state = 'pending'), 'infinity') as bounds
         from webhook.lanes where receiver_id = $1`,
      [id],
    )
  )[0];

/** Resolves once a statement waits for a lock. */
const untilLockAwaited = (): Promise<void> =>
  eventually(async () => {
    const waiting = await served.db.query(
      "select from pg_locks l join pg_stat_activity a using (pid) where not l.granted and a.datname = current_database()",
    );
    expect(waiting).not.toEqual([]);
  });

async function disabledWith(count: number): Promise<Receiver> {
  const receiver = await served.create(newBrand());
  await served.addDeliveries(receiver, count);
  return disable(receiver);
}

/** Makes deleting this receiver's second chunk fail. Returns a function that repairs it. */
async function breakSecondChunk({ id }: Receiver): Promise<() => Promise<void>> {
  const [row] = await served.db.query<{ id: string }>(
    "select id from webhook.deliveries where receiver_id = $1 order by due_at, id offset $2 limit 1",
    [id, 1.5 * chunkRows],
  );
  await served.db.query(
    `create function webhook.refuse_${id}() returns trigger language plpgsql as 'begin raise exception ''interrupted''; end';
     create trigger refuse_${id} before delete on webhook.deliveries for each row when (old.id = '${present(row).id}')
       execute function webhook.refuse_${id}()`,
  );
  return async () => {
    await served.db.query(`drop trigger refuse_${id} on webhook.deliveries`);
  };
}

describe("disabling a receiver", () => {
  it("returns the reason and the time, holds its lane and keeps its pending deliveries", async () => {
    const receiver = await served.create(newBrand());
    await served.addDeliveries(receiver, many);
    const disabled = await disable(receiver);
    expect(disabled).toEqual({
      ...receiver,
      enabled: false,
      disabled_reason: "member",
      disabled_at: disabled.updated_at,
      updated_at: disabled.updated_at,
      waiting: many,
      waiting_due: many,
    });
    expect(await laneOf(receiver)).toMatchObject({ held: true });
    expect(await served.deliveries(receiver)).toBe(many);
  });

  it("locks no delivery, however many are pending", async () => {
    const receiver = await served.create(newBrand());
    await served.addDeliveries(receiver, many);
    const untouched = "select count(distinct xmin::text) from webhook.deliveries where receiver_id = $1";
    const before = await served.db.query(untouched, [receiver.id]);
    // Another transaction has locked every delivery: disabling needs none.
    await served.db.transaction(async (sql) => {
      await sql.query("select from webhook.deliveries where receiver_id = $1 for update", [receiver.id]);
      await disable(receiver);
    });
    expect(await served.db.query(untouched, [receiver.id])).toEqual(before);
  });

  it("changes nothing when repeated, not even the reason and the time", async () => {
    const receiver = await served.create(newBrand());
    const first = await disable(receiver);
    expect(await disable(receiver)).toEqual(first);
    await served.db.query("update webhook.receivers set disabled_reason = 'gone' where id = $1", [receiver.id]);
    expect(await disable(receiver)).toEqual({ ...first, disabled_reason: "gone" });
  });
});

describe("enabling a receiver", () => {
  it.each(["release", "drop"])("with %s restores a receiver without held deliveries", async (held) => {
    const receiver = await served.create(newBrand());
    await disable(receiver);
    const { receiver: enabled, dropped } = await enable(receiver, held);
    expect(enabled).toEqual({ ...receiver, updated_at: enabled?.updated_at });
    expect(dropped).toBe(0);
    expect(await laneOf(receiver)).toEqual({ held: false, bounds: true });
  });

  it("resets the circuit and the failure clock, and keeps the number of failures that members see", async () => {
    const receiver = await disabledWith(1);
    await served.db.query(
      `update webhook.lanes set open_until = now() + interval '5 min', failed_in_a_row = 12, trips = 3, failures = 12,
              first_failure_at = now(), failing_since = now() where receiver_id = $1`,
      [receiver.id],
    );
    expect((await enable(receiver, "release")).receiver).toMatchObject({ failures: 12 });
    expect(
      await served.db.query(
        `select open_until::text, failed_in_a_row, trips, failures, first_failure_at, failing_since
           from webhook.lanes where receiver_id = $1`,
        [receiver.id],
      ),
    ).toEqual([{ open_until: "-infinity", failed_in_a_row: 0, trips: 0, failures: 12, first_failure_at: null, failing_since: null }]);
  });

  it.each(["gone", "failing"])(
    "with release, if it was disabled as %s, makes its lane due with the first held delivery, and keeps all",
    async (reason) => {
      const receiver = await disabledWith(many);
      await served.db.query("update webhook.receivers set disabled_reason = $2 where id = $1", [receiver.id, reason]);
      const { receiver: enabled, dropped } = await enable(receiver, "release");
      expect(enabled).toMatchObject({ enabled: true, disabled_reason: null, disabled_at: null, waiting: many });
      expect(dropped).toBe(0);
      expect(await laneOf(receiver)).toEqual({ held: false, bounds: true });
    },
  );

  it("waits for the lane, and misses no delivery that was added meanwhile", async () => {
    const receiver = await disabledWith(0);
    const { enabling } = await served.db.transaction(async (sql) => {
      await sql.query("select from webhook.lanes where receiver_id = $1 for update", [receiver.id]);
      const enabling = enable(receiver, "release");
      await untilLockAwaited();
      await sql.query(
        "insert into webhook.deliveries (id, receiver_id, event_id, event_created_at, event_type, due_at) values ('dlv_' || substr($1, 5), $1, 'evt_1', now(), 'payout.paid', now() - interval '1 hour')",
        [receiver.id],
      );
      await sql.query("update webhook.lanes set next_due = now() - interval '1 hour' where receiver_id = $1", [receiver.id]);
      return { enabling };
    });
    await enabling;
    expect(await laneOf(receiver)).toEqual({ held: false, bounds: true });
  });

  it.each([chunkRows - 1, chunkRows, 2 * chunkRows, many])(
    "with drop removes %i: each held delivery, in chunks, and none of another receiver",
    async (count) => {
      const [receiver, other] = [await disabledWith(count), await disabledWith(3)];
      expect(await enable(receiver, "drop")).toMatchObject({ receiver: { enabled: true, waiting: 0 }, dropped: count });
      expect(await laneOf(receiver)).toEqual({ held: false, bounds: true });
      expect([await served.deliveries(receiver), await served.deliveries(other)]).toEqual([0, 3]);
    },
  );

  it("with drop keeps deliveries added after the call, and those in flight", async () => {
    const receiver = await disabledWith(5);
    await served.db.query(
      `update webhook.deliveries set created_at = now() + interval '1 hour', due_at = now() + interval '1 hour'
        where id = (select min(id) from webhook.deliveries where receiver_id = $1)`,
      [receiver.id],
    );
    await served.db.query(
      `update webhook.deliveries set state = 'sending', lease = gen_random_uuid(), lease_until = now()
        where id = (select max(id) from webhook.deliveries where receiver_id = $1)`,
      [receiver.id],
    );
    expect(await enable(receiver, "drop")).toMatchObject({ receiver: { waiting: 1 }, dropped: 3 });
    expect(await laneOf(receiver)).toEqual({ held: false, bounds: true });
    expect(await served.deliveries(receiver)).toBe(2);
  });

  it.each(["release", "drop"])("with %s changes nothing when repeated", async (held) => {
    const receiver = await disabledWith(3);
    const { receiver: enabled } = await enable(receiver, held);
    await served.addDeliveries(receiver, 2);
    const waiting = held === "drop" ? 2 : 5;
    expect(await enable(receiver, "drop")).toEqual({ receiver: { ...enabled, waiting, waiting_due: waiting }, dropped: 0 });
  });

  it("interrupted while dropping, leaves it disabled with the rest held, and a repeat completes it", async () => {
    const receiver = await disabledWith(many);
    const repair = await breakSecondChunk(receiver);
    await expect(enable(receiver, "drop")).rejects.toMatchObject({ kind: "internal_error" });
    expect(await served.get(receiver)).toEqual({ ...receiver, waiting: many - chunkRows, waiting_due: many - chunkRows });
    expect(await laneOf(receiver)).toMatchObject({ held: true });
    await repair();
    expect(await enable(receiver, "drop")).toMatchObject({ receiver: { enabled: true, waiting: 0 }, dropped: many - chunkRows });
  });

  it("with drop from several callers at the same time removes each delivery once, before the lane is released", async () => {
    const receiver = await disabledWith(many);
    const responses = await Promise.all(Array.from({ length: 4 }, () => enable(receiver, "drop")));
    for (const response of responses) expect(response.receiver).toMatchObject({ enabled: true, waiting: 0 });
    expect(responses.reduce((sum, { dropped }) => sum + dropped, 0)).toBe(many);
    expect(await served.deliveries(receiver)).toBe(0);
  });

  /** Does something while the first chunk of a drop waits. */
  const whileDropping = (receiver: Receiver, work: () => Promise<unknown>) =>
    served.db.transaction(async (sql) => {
      await sql.query("select from webhook.deliveries where receiver_id = $1 order by due_at, id limit 1 for update", [receiver.id]);
      const dropping = enable(receiver, "drop");
      await untilLockAwaited();
      await work();
      return { dropping };
    });

  it("stops dropping once another caller has released", async () => {
    const receiver = await disabledWith(many);
    const { dropping } = await whileDropping(receiver, async () =>
      expect(await enable(receiver, "release")).toMatchObject({ receiver: { enabled: true, waiting: many } }),
    );
    expect(await dropping).toMatchObject({ dropped: chunkRows });
    expect(await served.deliveries(receiver)).toBe(many - chunkRows);
  });

  it.each(["", ", after another caller enabled it"])("leaves it disabled if it is disabled again meanwhile%s", async (enabledBetween) => {
    const receiver = await disabledWith(many);
    const { dropping } = await whileDropping(receiver, async () => {
      if (enabledBetween !== "") await enable(receiver, "release");
      await disable(receiver);
    });
    expect(await dropping).toMatchObject({ receiver: { enabled: false, disabled_at: (await served.get(receiver)).disabled_at } });
    expect(await laneOf(receiver)).toMatchObject({ held: true });
    expect(await enable(receiver, "release")).toMatchObject({ receiver: { enabled: true } });
  });

  it("holds neither lane nor receiver while it drops", async () => {
    const receiver = await disabledWith(many);
    const { dropping } = await served.db.transaction(async (sql) => {
      await sql.query(
        // A delivery of the second chunk. The offset is in a query of its own: it would lock what it skips.
        "select from webhook.deliveries where id = (select id from webhook.deliveries where receiver_id = $1 order by due_at, id offset $2 limit 1) for update",
        [receiver.id, 1.2 * chunkRows],
      );
      const dropping = enable(receiver, "drop");
      await eventually(async () => expect(await served.deliveries(receiver)).toBe(many - chunkRows));
      // It waits within its second chunk now.
      await served.db.query("select from webhook.lanes where receiver_id = $1 for update nowait", [receiver.id]);
      await served.db.query("select from webhook.receivers where id = $1 for update nowait", [receiver.id]);
      return { dropping };
    });
    await dropping;
    expect(await served.get(receiver)).toMatchObject({ enabled: true, waiting: 0 });
  });

  it.each(["", "Drop", "toString"])("refuses %j for held, and changes nothing", async (held) => {
    const receiver = await disabledWith(1);
    const refusal = { kind: "invalid_request", field: "held", message: "held must be release or drop" };
    await expect(enable(receiver, held)).rejects.toMatchObject(refusal);
    expect(await served.get(receiver)).toEqual(receiver);
  });

  it("leaves receiver and lane in agreement after simultaneous enabling and disabling", async () => {
    const receiver = await served.create(newBrand());
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(
        Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? disable(receiver) : enable(receiver, i % 3 === 0 ? "drop" : "release"))),
      );
      const { enabled } = await served.get(receiver);
      expect(await laneOf(receiver)).toMatchObject({ held: !enabled });
    }
  });
});

describe("deleting a receiver", () => {
  it.each([true, false])("removes it, its lane and its pending deliveries, and none of another receiver (enabled: %s)", async (enabled) => {
    const receiver = await served.create(newBrand());
    const other = await served.create(receiver.brand_id);
    for (const each of [receiver, other]) await served.addDeliveries(each, each === receiver ? many : 3);
    if (!enabled) await disable(receiver);
    expect(await remove(receiver)).toEqual({ dropped: many });
    await expect(served.get(receiver)).rejects.toMatchObject({ kind: "not_found" });
    expect(await laneOf(receiver)).toBeUndefined();
    expect([await served.deliveries(receiver), await served.deliveries(other)]).toEqual([0, 3]);
    await expect(remove(receiver)).rejects.toMatchObject({ kind: "not_found", field: "receiver_id" });
  });

  it("interrupted, leaves no receiver, and the janitor drops the rest, without those of other receivers", async () => {
    const [receiver, other, held] = [await served.create(newBrand()), await served.create(newBrand()), await disabledWith(4)];
    await served.addDeliveries(receiver, many);
    await served.addDeliveries(other, 3);
    const repair = await breakSecondChunk(receiver);
    await expect(remove(receiver)).rejects.toMatchObject({ kind: "internal_error" });
    await expect(served.get(receiver)).rejects.toMatchObject({ kind: "not_found" });
    expect(await laneOf(receiver)).toBeUndefined();
    expect(await served.deliveries(receiver)).toBe(many - chunkRows);
    await repair();
    const janitors = await Promise.all([dropOrphanedDeliveries(served.deps.db), dropOrphanedDeliveries(served.deps.db)]);
    expect(janitors.reduce((sum, dropped) => sum + dropped)).toBe(many - chunkRows);
    expect([await served.deliveries(receiver), await served.deliveries(other), await served.deliveries(held)]).toEqual([0, 3, 4]);
    expect(await dropOrphanedDeliveries(served.deps.db)).toBe(0);
  });

  it("deletes its attempts by hour, later those of attempts that were in flight, and none of another receiver", async () => {
    const [receiver, other] = [await served.create(newBrand()), await served.create(newBrand())];
    const addHours = ({ id }: Receiver) =>
      served.db.query(
        `insert into webhook.attempt_hours (receiver_id, hour, bucket, accepted, failed)
         select $1, date_trunc('hour', now()) - make_interval(hours => n), 7, 1, 0 from generate_series(1, 3) n`,
        [id],
      );
    const hours = async () =>
      (
        await served.db.query<{ receiver_id: string; hours: number }>(
          "select receiver_id, count(*) as hours from webhook.attempt_hours where receiver_id = any($1::text[]) group by receiver_id",
          [[receiver.id, other.id]],
        )
      ).map(({ receiver_id, hours }) => [receiver_id, hours]);
    for (const each of [receiver, other]) await addHours(each);
    await remove(receiver);
    expect(await hours()).toEqual([[other.id, 3]]);
    await addHours(receiver);
    await Promise.all([deleteOrphanedHours(served.deps.db), deleteOrphanedHours(served.deps.db)]);
    expect(await hours()).toEqual([[other.id, 3]]);
  });

  it("succeeds once among simultaneous calls, while others enable and disable it", async () => {
    const receiver = await served.create(newBrand());
    const outcomes = await Promise.allSettled([
      ...Array.from({ length: 5 }, () => remove(receiver)),
      disable(receiver),
      enable(receiver, "drop"),
      disable(receiver),
    ]);
    expect(outcomes.slice(0, 5).filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes) if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ kind: "not_found" });
  });
});
