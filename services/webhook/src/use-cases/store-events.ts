import { randomUUID } from "node:crypto";
import type { Database, Transaction } from "@brand-records/postgres";
import { idSequence } from "@brand-records/ids";
import { lockBrands } from "../storage/brands.ts";
import type { ClaimedDelivery } from "../storage/claims.ts";
import { insertEvents, type NewEvent } from "../storage/events.ts";
import { addFirstAttempts, targetsOf, type AddedDelivery, type Target } from "../storage/first-attempts.ts";
import { lockLanesSelecting } from "../storage/lanes.ts";
import { addToLanes, type LaneAddition } from "../storage/locked-lanes.ts";

export interface Stored {
  /** When the events were created that were not stored before. */
  readonly createdAt: readonly string[];
  readonly repeated: number;
  readonly deliveries: number;
  /** Events of brands that are being deleted: not stored. */
  readonly dropped: number;
  /** Brands that the table does not have: their events are not stored. */
  readonly unknownBrands: ReadonlySet<string>;
}

/** Sends first attempts from memory, without a claim. */
export interface FirstAttempts {
  readonly leaseSeconds: number;
  /** Begins to take room in this process, for the deliveries of one transaction. */
  reservation(): Reservation;
  /** Gives back room that was taken, for this number of attempts that are not made. */
  release(attempts: number): void;
  /**
   * Sends deliveries for which room was taken and whose leases are committed.
   *
   * @param receivedAt when their storing began: milliseconds of `performance.now()`
   */
  send(deliveries: readonly ClaimedDelivery[], receivedAt: number): void;
  /**
   * Makes deliveries pending again if their leases are stored, and gives back their room: the response to the commit was lost, and
   * nothing else in this process remembers them.
   */
  reconcile(deliveries: readonly ClaimedDelivery[]): void;
}

/** Takes room for attempts to a receiver. @returns for how many, at most `wanted` */
export type Reservation = (target: Target, wanted: number) => number;

const nextDeliveryId = idSequence("dlv");

/**
 * Stores events and a delivery for every receiver that selects them, in one transaction. Idempotent: an event that is already
 * stored adds nothing. Stores only events of brands that the table has, which it locks against their deletion.
 *
 * First attempts for which lane and process have room are leased to this process as they are stored, and sent after the commit.
 *
 * @param first undefined if this process sends nothing without a claim
 */
export async function storeEvents(db: Database, events: readonly NewEvent[], first?: FirstAttempts): Promise<Stored> {
  const receivedAt = performance.now();
  const leased: ClaimedDelivery[] = [];
  const stored = await storeLeasing(db, events, { first, leased });
  // Outside of what gives the room back after an error: `send` has done so by itself.
  first?.send(leased, receivedAt);
  return stored;
}

async function storeLeasing(db: Database, events: readonly NewEvent[], leasing: Leasing): Promise<Stored> {
  const { first, leased } = leasing;
  let mayBeCommitted = false;
  try {
    return await db.transaction(
      async (sql) => {
        const result = await store(sql, events, leasing);
        mayBeCommitted = true;
        return result;
      },
      { locksFirst: true },
    );
  } catch (error) {
    if (mayBeCommitted) first?.reconcile(leased);
    else first?.release(leased.length);
    throw error;
  }
}

/** Where deliveries go whose first attempt begins after the commit. */
interface Leasing {
  readonly first: FirstAttempts | undefined;
  readonly leased: ClaimedDelivery[];
}

async function store(sql: Transaction, events: readonly NewEvent[], leasing: Leasing): Promise<Stored> {
  const brandIds = unique(events.map(({ brand_id }) => brand_id));
  // First: disabling, deleting or emptying a lane then happens before or after this, never in between.
  const [lanes, brands] = await Promise.all([
    lockLanesSelecting(sql, brandIds, unique(events.map(({ type }) => type))),
    lockBrands(sql, brandIds),
  ]);
  const storable = events.filter(({ brand_id }) => brands.get(brand_id) === true);
  const [added, targets] = await Promise.all([
    storable.length > 0 ? insertEvents(sql, storable) : new Set<string>(),
    storable.length > 0 && lanes.length > 0 ? targetsOf(sql, lanes) : [],
  ]);
  // `delete` keeps one of an event that occurs twice in a batch.
  const fresh = storable.filter(({ id }) => added.delete(id));
  return {
    createdAt: fresh.map(({ created_at }) => created_at),
    repeated: storable.length - fresh.length,
    deliveries: await addDeliveries(sql, fresh, targets, leasing),
    dropped: events.filter(({ brand_id }) => brands.get(brand_id) === false).length,
    unknownBrands: new Set(brandIds.filter((id) => !brands.has(id))),
  };
}

async function addDeliveries(sql: Transaction, events: readonly NewEvent[], targets: readonly Target[], leasing: Leasing): Promise<number> {
  const byBrand = Map.groupBy(events, ({ brand_id }) => brand_id);
  const lease = randomUUID();
  const deliveries: AddedDelivery[] = [];
  const additions: LaneAddition[] = [];
  // Nothing is waited for from here to the last reservation: another batch would count the same room, and the sender could stop.
  const reserve = leasing.first?.reservation();
  for (const target of targets) {
    const selected = (byBrand.get(target.brand_id) ?? []).filter(({ type }) => target.events.includes(type));
    if (selected.length === 0) continue;
    const leased = reserve?.(target, Math.min(target.room, selected.length)) ?? 0;
    for (const [index, event] of selected.entries()) {
      const delivery = newDelivery(event, target, index < leased ? lease : null);
      deliveries.push(delivery);
      if (index < leased) leasing.leased.push(claimed(event, target, delivery.id, lease));
    }
    additions.push({ receiver_id: target.id, ctid: target.ctid, leased, waiting: selected.length - leased });
  }
  if (deliveries.length === 0) return 0;
  await Promise.all([addFirstAttempts(sql, deliveries, leasing.first?.leaseSeconds ?? 0), addToLanes(sql, additions)]);
  return deliveries.length;
}

/** Ids of a receiver's deliveries rise in the order of the events. */
const newDelivery = (event: NewEvent, { id: receiver_id }: Target, lease: string | null): AddedDelivery => ({
  id: nextDeliveryId(),
  receiver_id,
  event_id: event.id,
  event_created_at: event.created_at,
  event_type: event.type,
  lease,
});

/** A delivery as a claim would return it. The receiver is as it was under the lane's lock. */
function claimed(event: NewEvent, target: Target, id: string, lease: string): ClaimedDelivery {
  const { url, secret, secret_key_id, next_secret, next_secret_key_id } = target;
  return {
    id,
    receiver_id: target.id,
    event_id: event.id,
    event_created_at: event.created_at,
    attempt: 1,
    lease,
    test: false,
    created_at: target.now,
    from_intake: true,
    brand_id: event.brand_id,
    type: event.type,
    data: event.data,
    traceparent: event.traceparent,
    url,
    secret,
    secret_key_id,
    next_secret,
    next_secret_key_id,
    sign_with_next: false,
    failing: false,
  };
}

const unique = (values: readonly string[]): string[] => [...new Set(values)];

/** Keeps intake from storing more than the sender has room for. */
export interface Pacer {
  /** Events to store in one transaction, so that their first attempts find room together. */
  readonly eventsMax: number;
  /**
   * Waits for room while attempts end soon: first attempts cost less than claims. Does not wait for receivers that hang.
   *
   * @param events to store, each with as many deliveries as events have had lately
   * @param until when to go on without room: milliseconds of `performance.now()`
   * @returns gives back what was kept free for the caller
   */
  untilRoom(events: number, until: number): Promise<GiveBack>;
}

/** Call it with the deliveries that the events got; without them if nothing was stored. */
export type GiveBack = (deliveries?: number) => void;
