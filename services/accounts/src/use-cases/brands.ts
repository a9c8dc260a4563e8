import { AppError } from "@brand-records/errors";
import { newId } from "@brand-records/ids";
import type { Database, Sql, Transaction } from "@brand-records/postgres";
import type { RecordChange } from "@brand-records/service-runtime";
import type { AccountsDependencies } from "../dependencies.ts";
import { type Brand, brandNotFound, type Tier } from "../domain/brand.ts";
import { CACHES_EXPIRE_AFTER_SECONDS } from "../epochs/epoch-publisher.ts";
import { deletedAmong } from "../storage/brand-deletions.ts";
import { findBrand, insertBrand, pageOfBrands, raiseEpoch, setTier, setVerified } from "../storage/brands.ts";

export interface NewBrand {
  /** Generated when absent. */
  readonly id: string | null | undefined;
  readonly name: string;
  readonly tier: Tier;
  readonly verified: boolean;
  readonly cell: string | null;
}

/**
 * Creates a brand. If the id is taken by a brand with the same name, returns that brand unchanged.
 *
 * @throws AppError `already_exists` if the id is taken by a brand with another name, or was a deleted brand's
 */
export async function createBrand(db: Database, { id, ...rest }: NewBrand, record: RecordChange): Promise<Brand> {
  const brand = { id: id ?? newId("brd"), ...rest };
  const created = await db.transaction(async (sql) => {
    const inserted = await insertBrand(sql, brand);
    if (inserted !== undefined) await record(sql, { subject: brand.id, brandId: brand.id });
    return inserted;
  });
  if (created !== undefined) return created;
  const existing = await findBrand(db, brand.id);
  if (existing?.name === brand.name) return existing;
  if (existing === undefined)
    throw new AppError("already_exists", "This is the id of a deleted brand, which is not used again", { field: "id" });
  throw new AppError("already_exists", "Another brand has this id", { field: "id" });
}

/** @throws AppError `not_found` */
export async function requireBrand(db: Sql, brandId: string): Promise<Brand> {
  const brand = await findBrand(db, brandId);
  if (brand === undefined) throw brandNotFound();
  return brand;
}

/** Returns brands in ascending order of id, after `afterId`, also those that are being deleted. */
export const listBrands = (db: Sql, afterId: string, limit: number): Promise<Brand[]> => pageOfBrands(db, afterId, limit);

/** Returns which of these brands were deleted, or are being deleted. */
export const listDeletedBrands = (db: Sql, brandIds: readonly string[]): Promise<string[]> => deletedAmong(db, brandIds);

export type BrandChangeDependencies = Pick<AccountsDependencies, "db" | "epochs" | "clock">;

/** @throws AppError `not_found` */
export const changeTier = (deps: BrandChangeDependencies, brandId: string, tier: Tier, record: RecordChange): Promise<BrandChange<Brand>> =>
  changeBrand(deps, brandId, async (sql, before) => {
    if (before.tier !== tier) await record(sql);
    return setTier(sql, brandId, tier);
  });

/** @throws AppError `not_found` */
export const changeVerified = (
  deps: BrandChangeDependencies,
  brandId: string,
  verified: boolean,
  record: RecordChange,
): Promise<BrandChange<Brand>> =>
  changeBrand(deps, brandId, async (sql, before) => {
    if (before.verified !== verified) await record(sql);
    return setVerified(sql, brandId, verified);
  });

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
