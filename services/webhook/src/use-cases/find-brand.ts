import { AppError } from "@brand-records/errors";
import type { Sql } from "@brand-records/postgres";
import { brandOf } from "../storage/brands.ts";

/** Records by the prefixes of their ids. */
const NOUNS = { rcv: "receiver", evt: "event", dlv: "delivery", rpl: "replay" };

export const FINDABLE_PREFIXES: readonly string[] = Object.keys(NOUNS);

/** Returns the brand of a receiver, an event, a delivery or a replay, by its id alone. @throws AppError `not_found` */
export async function findBrand(db: Sql, id: string): Promise<string> {
  const brandId = await brandOf(db, id);
  if (brandId !== undefined) return brandId;
  const noun = NOUNS[id.slice(0, 3) as keyof typeof NOUNS];
  throw new AppError("not_found", `There is no ${noun} with this id, or it is no longer stored`, { field: "id" });
}
