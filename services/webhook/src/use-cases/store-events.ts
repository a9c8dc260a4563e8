import type { Database, Transaction } from "@brand-records/postgres";
import { idSequence } from "@brand-records/typeid";
import { lockBrands } from "../storage/brands.ts";
import { insertDeliveries, type NewDelivery } from "../storage/deliveries.ts";
import { insertEvents, type NewEvent } from "../storage/events.ts";
import { lockLanesSelecting } from "../storage/lanes.ts";
import { selectionsOf, type Selection } from "../storage/receivers.ts";

export interface Stored {
  /** Events that were not stored before. */
  readonly events: number;
  /** When these were created. */
  readonly createdAt: readonly string[];
  /** Events that were. */
  readonly repeated: number;
  readonly deliveries: number;
  /** Events of brands that are being deleted: not stored. */
  readonly dropped: number;
  /** Brands that the table does not have: their events are not stored. */
  readonly unknownBrands: ReadonlySet<string>;
}

const nextDeliveryId = idSequence("dlv");

/**
 * Stores events and a delivery for every receiver that selects them, in one transaction. Idempotent: an event that is already
 * stored adds nothing. Stores only events of brands that the table has, which it locks against their deletion.
 */
export function storeEvents(db: Database, events: readonly NewEvent[]): Promise<Stored> {
  return db.transaction(async (sql) => {
    const brandIds = unique(events.map(({ brand_id }) => brand_id));
    // First: disabling, deleting or emptying a lane then happens before or after this, never in between.
    const lanes = await lockLanesSelecting(sql, brandIds, unique(events.map(({ type }) => type)));
    const brands = await lockBrands(sql, brandIds);
    const storable = events.filter(({ brand_id }) => brands.get(brand_id) === true);
    const added = storable.length > 0 ? await insertEvents(sql, storable) : new Set<string>();
    // `delete` keeps one of an event that occurs twice in a batch.
    const fresh = storable.filter(({ id }) => added.delete(id));
    return {
      events: fresh.length,
      createdAt: fresh.map(({ created_at }) => created_at),
      repeated: storable.length - fresh.length,
      deliveries: await addDeliveries(sql, fresh, lanes),
      dropped: events.filter(({ brand_id }) => brands.get(brand_id) === false).length,
      unknownBrands: new Set(brandIds.filter((id) => !brands.has(id))),
    };
  });
}

async function addDeliveries(sql: Transaction, events: readonly NewEvent[], lanes: readonly string[]): Promise<number> {
  if (lanes.length === 0 || events.length === 0) return 0;
  const byBrand = Map.groupBy(await selectionsOf(sql, lanes), ({ brand_id }) => brand_id);
  const deliveries = events.flatMap((event) => deliveriesOf(event, byBrand.get(event.brand_id) ?? []));
  if (deliveries.length > 0) await insertDeliveries(sql, deliveries);
  return deliveries.length;
}

/** Ids of deliveries rise in the order of the events. */
function deliveriesOf(event: NewEvent, receivers: readonly Selection[]): NewDelivery[] {
  return receivers
    .filter(({ events }) => events.includes(event.type))
    .map(({ id }) => ({
      id: nextDeliveryId(),
      receiver_id: id,
      event_id: event.id,
      event_created_at: event.created_at,
      event_type: event.type,
    }));
}

const unique = (values: readonly string[]): string[] => [...new Set(values)];
