import { AppError } from "@brand-records/errors";
import type { Transaction } from "@brand-records/postgres";
import { reachGateways } from "../epochs/reach-gateways.ts";
import type { Parts } from "../parts.ts";
import { raiseEpoch } from "../storage/brands.ts";
import type { Brand } from "./brand.ts";

export const noSuchBrand = (): AppError => new AppError("not_found", "There is no brand of this id", { field: "brand_id" });

/**
 * The one road for everything that changes what a brand's keys may do. When it resolves, every gateway refuses what is
 * no longer allowed with its next request: that may take 31 s if Redis is away.
 *
 * The new epoch is published twice. Before the commit: if this process dies right after committing, gateways find their
 * cached epoch outdated and ask again instead of trusting it. After the commit: a gateway that asked in between, while
 * Redis was flushed, may have put the old epoch back. The first publication holds the brand's row, so it is tried once.
 *
 * @param options.adds the change only adds what no gateway can have cached, so the caller need not wait until gateways know of it
 */
export async function changeBrand<T>(
  { db, epochs }: Pick<Parts, "db" | "epochs">,
  brandId: string,
  change: (sql: Transaction, brand: Brand) => Promise<T>,
  { adds = false }: { readonly adds?: boolean } = {},
): Promise<T> {
  const { epoch, result } = await db.transaction(async (sql) => {
    const brand = await raiseEpoch(sql, brandId);
    if (brand === undefined) throw noSuchBrand();
    const changed = await change(sql, brand);
    await epochs.publish(brandId, brand.epoch);
    return { epoch: brand.epoch, result: changed };
  });
  if (adds) await epochs.publish(brandId, epoch);
  else await reachGateways(epochs, brandId, epoch);
  return result;
}
