import type { Database, Transaction } from "@brand-records/postgres";
import { idSequence } from "@brand-records/typeid";
import {
  insertDeliveries,
  insertEvents,
  lockLanes,
  selectionsOf,
  type NewDelivery,
  type NewEvent,
  type Selection,
} from "../storage/intake.ts";

export interface Stored {
  /** Events that were not there yet. */
  readonly events: number;
  readonly deliveries: number;
}

const nextDeliveryId = idSequence("dlv");

/**
 * Stores events and the deliveries of every receiver that selects them, in one transaction. An event that is there already
 * makes nothing, so any number of calls with the same events are as good as one.
 */
export function storeEvents(db: Database, events: readonly NewEvent[]): Promise<Stored> {
  return db.transaction(async (sql) => {
    // Before anything is read of them: who disables, deletes or empties a lane comes before us or after us.
    const lanes = await lockLanes(sql, unique(events.map(({ brand_id }) => brand_id)), unique(events.map(({ type }) => type)));
    const added = await insertEvents(sql, events);
    // An event that comes twice within a batch is added once.
    const fresh = events.filter(({ id }) => added.delete(id));
    return { events: fresh.length, deliveries: await addDeliveries(sql, fresh, lanes) };
  });
}

async function addDeliveries(sql: Transaction, events: readonly NewEvent[], lanes: readonly string[]): Promise<number> {
  if (lanes.length === 0 || events.length === 0) return 0;
  const byBrand = Map.groupBy(await selectionsOf(sql, lanes), ({ brand_id }) => brand_id);
  const deliveries = events.flatMap((event) => deliveriesOf(event, byBrand.get(event.brand_id) ?? []));
  if (deliveries.length > 0) await insertDeliveries(sql, deliveries);
  return deliveries.length;
}

/** Their ids rise in the order of the events. */
function deliveriesOf(event: NewEvent, receivers: readonly Selection[]): NewDelivery[] {
  return receivers
    .filter(({ events }) => events.includes(event.type))
    .map(({ id }) => ({ id: nextDeliveryId(), receiver_id: id, event_id: event.id, event_created_at: event.created_at }));
}

const unique = (values: readonly string[]): string[] => [...new Set(values)];
