import { AppError } from "@brand-records/errors";
import type { Database, Sql } from "@brand-records/postgres";
import { newId } from "@brand-records/ids";
import type { AccountsDependencies } from "../dependencies.ts";
import { brandNotFound, type Brand, type Tier } from "../domain/brand.ts";
import { deletedAmong } from "../storage/brand-deletions.ts";
import { findBrand, insertBrand, pageOfBrands, setTier, setVerified } from "../storage/brands.ts";
import { changeBrand, type BrandChange } from "./change-brand.ts";

export interface NewBrand {
  /** Generated when absent. */
  readonly id: string | null | undefined;
  readonly name: string;
  readonly tier: Tier;
  readonly verified: boolean;
}

/**
 * Creates a brand. If the id is taken by a brand with the same name, returns that brand unchanged.
 *
 * @throws AppError `already_exists` if the id is taken by a brand with another name, or was a deleted brand's
 */
export async function createBrand(db: Database, { id, ...rest }: NewBrand): Promise<Brand> {
  const brand = { id: id ?? newId("brd"), ...rest };
  const created = await insertBrand(db, brand);
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

type BrandChangeDependencies = Pick<AccountsDependencies, "db" | "epochs" | "clock">;

/** @throws AppError `not_found` */
export const changeTier = (deps: BrandChangeDependencies, brandId: string, tier: Tier): Promise<BrandChange<Brand>> =>
  changeBrand(deps, brandId, (sql) => setTier(sql, brandId, tier));

/** @throws AppError `not_found` */
export const changeVerified = (deps: BrandChangeDependencies, brandId: string, verified: boolean): Promise<BrandChange<Brand>> =>
  changeBrand(deps, brandId, (sql) => setVerified(sql, brandId, verified));
