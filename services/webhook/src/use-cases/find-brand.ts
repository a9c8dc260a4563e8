import { AppError } from "@brand-records/errors";
import type { Sql } from "@brand-records/postgres";
import { findBrandOfDelivery } from "../storage/deliveries.ts";
import { findBrandOfEvent } from "../storage/events.ts";
import { findBrandOfReceiver } from "../storage/receivers.ts";
import { findBrandOfReplay } from "../storage/replays.ts";

interface Kind {
  readonly noun: string;
  find(sql: Sql, id: string): Promise<string | undefined>;
}

/** Keys are the prefixes of their ids. */
const KINDS = {
  rcv: { noun: "receiver", find: findBrandOfReceiver },
  evt: { noun: "event", find: findBrandOfEvent },
  dlv: { noun: "delivery", find: findBrandOfDelivery },
  rpl: { noun: "replay", find: findBrandOfReplay },
} satisfies Record<string, Kind>;

/** Prefixes of the ids that `findBrand` takes. */
export const FINDABLE_PREFIXES: readonly string[] = Object.keys(KINDS);

/**
 * Returns the brand of a receiver, an event, a delivery or a replay, by its id alone.
 *
 * @throws AppError `not_found`
 */
export async function findBrand(db: Sql, id: string): Promise<string> {
  const { noun, find } = KINDS[id.slice(0, 3) as keyof typeof KINDS];
  const brandId = await find(db, id);
  if (brandId !== undefined) return brandId;
  throw new AppError("not_found", `There is no ${noun} with this id, or it is no longer stored`, { field: "id" });
}
