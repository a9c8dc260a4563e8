import type { Transaction } from "@brand-records/postgres";
import type { AccountsDependencies } from "../dependencies.ts";
import { brandNotFound, type Brand } from "../domain/brand.ts";
import { CACHES_EXPIRE_AFTER_SECONDS } from "../epochs/epoch-publisher.ts";
import { raiseEpoch } from "../storage/brands.ts";

export interface BrandChange<T> {
  readonly result: T;
  /** Absent if Redis took the epoch. Otherwise a gateway may use what it cached before the change until this time, of the database's clock. */
  readonly may_be_accepted_until?: string;
}

/**
 * Makes a change to what a brand's keys may do; every such change goes through here. When it resolves, every gateway
 * refuses what is no longer allowed with its next request. While Redis is unavailable it does so too, without waiting, and says by when
 * gateways will that cannot know of the change: accounts has refused since the commit, and the republisher repeats what failed.
 *
 * The new epoch is published twice. Before the commit: if this process dies right after committing, gateways find their
 * cached epoch outdated and verify the key again. After the commit: a gateway that verified in between, while Redis was
 * flushed, may have written the old epoch back. Each is tried once: the first holds the brand's row lock, and a caller waits for the second.
 */
export async function changeBrand<T>(
  { db, epochs, clock }: Pick<AccountsDependencies, "db" | "epochs" | "clock">,
  brandId: string,
  change: (sql: Transaction, brand: Brand) => Promise<T>,
): Promise<BrandChange<T>> {
  const { epoch, result } = await db.transaction(async (sql) => {
    const brand = await raiseEpoch(sql, brandId);
    if (brand === undefined) throw brandNotFound();
    const changed = await change(sql, brand);
    await epochs.publish(brandId, brand.epoch);
    return { epoch: brand.epoch, result: changed };
  });
  if (await epochs.publish(brandId, epoch)) return { result };
  return { result, may_be_accepted_until: new Date(clock.now() + 1_000 * CACHES_EXPIRE_AFTER_SECONDS).toISOString() };
}
