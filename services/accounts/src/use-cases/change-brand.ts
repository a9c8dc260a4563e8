import type { Transaction } from "@brand-records/postgres";
import type { AccountsDependencies } from "../dependencies.ts";
import { brandNotFound, type Brand } from "../domain/brand.ts";
import { invalidateGatewayCaches } from "../epochs/invalidate-gateway-caches.ts";
import { raiseEpoch } from "../storage/brands.ts";

/**
 * Makes a change to what a brand's keys may do; every such change goes through here. When it resolves, every gateway
 * refuses what is no longer allowed with its next request. It takes up to 31 s while Redis is unavailable.
 *
 * The new epoch is published twice. Before the commit: if this process dies right after committing, gateways find their
 * cached epoch outdated and verify the key again. After the commit: a gateway that verified in between, while Redis was
 * flushed, may have written the old epoch back. The first publication holds the brand's row lock, so it is tried once.
 *
 * @param options.onlyAdds the change only adds what no gateway can have cached, so the second publication is tried once, too
 */
export async function changeBrand<T>(
  { db, epochs }: Pick<AccountsDependencies, "db" | "epochs">,
  brandId: string,
  change: (sql: Transaction, brand: Brand) => Promise<T>,
  { onlyAdds = false }: { readonly onlyAdds?: boolean } = {},
): Promise<T> {
  const { epoch, result } = await db.transaction(async (sql) => {
    const brand = await raiseEpoch(sql, brandId);
    if (brand === undefined) throw brandNotFound();
    const changed = await change(sql, brand);
    await epochs.publish(brandId, brand.epoch);
    return { epoch: brand.epoch, result: changed };
  });
  if (onlyAdds) await epochs.publish(brandId, epoch);
  else await invalidateGatewayCaches(epochs, brandId, epoch);
  return result;
}
