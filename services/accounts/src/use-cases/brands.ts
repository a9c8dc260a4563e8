import { AppError } from "@brand-records/errors";
import type { Database } from "@brand-records/postgres";
import { newId } from "@brand-records/typeid";
import { brandNotFound, type Brand, type Tier } from "../domain/brand.ts";
import { findBrand, insertBrand } from "../storage/brands.ts";

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
export async function requireBrand(db: Database, brandId: string): Promise<Brand> {
  const brand = await findBrand(db, brandId);
  if (brand === undefined) throw brandNotFound();
  return brand;
}
