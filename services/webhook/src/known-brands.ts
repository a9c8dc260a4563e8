import { AppError } from "@brand-records/errors";
import type { Database } from "@brand-records/postgres";
import type { AccountsServiceService } from "@brand-records/proto/accounts/v1";
import { isUnimplemented, newCallContext, type RpcClient } from "@brand-records/rpc";
import { isBrandOpen, rememberBrand } from "./storage/brands.ts";

const CALL_MS = 5_000;

/** What accounts says about brands that the table does not have. */
export interface LookedUp {
  readonly existing: ReadonlySet<string>;
  /** Deleted, or being deleted. All others never existed. */
  readonly deleted: ReadonlySet<string>;
}

/**
 * Knows which brands exist. The table has those that accounts confirmed, so that accounts is called once for each. A brand may be
 * deleted at any time: a transaction that writes for one locks its row, see `lockBrands`.
 */
export class KnownBrands {
  readonly #db: Database;
  readonly #accounts: Pick<RpcClient<AccountsServiceService>, "getBrand" | "listDeletedBrands">;

  constructor(db: Database, accounts: Pick<RpcClient<AccountsServiceService>, "getBrand" | "listDeletedBrands">) {
    this.#db = db;
    this.#accounts = accounts;
  }

  /** @throws AppError `unavailable`, `timeout` if the brand is not in the table and accounts cannot be reached */
  async isKnown(brandId: string): Promise<boolean> {
    return (await isBrandOpen(this.#db, brandId)) || (await this.lookUp([brandId])).existing.has(brandId);
  }

  /** Asks accounts about brands, and adds those that exist to the table. @throws AppError like isKnown */
  async lookUp(brandIds: readonly string[]): Promise<LookedUp> {
    const existing = new Set<string>();
    for (const id of brandIds) {
      if (!(await this.#exists(id))) continue;
      await rememberBrand(this.#db, id);
      existing.add(id);
    }
    const missing = brandIds.filter((id) => !existing.has(id));
    return { existing, deleted: missing.length === 0 ? new Set() : await deletedAmong(this.#accounts, missing) };
  }

  async #exists(brandId: string): Promise<boolean> {
    try {
      await this.#accounts.getBrand({ brand_id: brandId }, newCallContext(CALL_MS));
      return true;
    } catch (error) {
      if (error instanceof AppError && error.kind === "not_found") return false;
      throw error;
    }
  }
}

/** Returns which of up to 1,000 brands were deleted, or are being deleted. @throws AppError `unavailable`, `timeout` */
export async function deletedAmong(
  accounts: Pick<RpcClient<AccountsServiceService>, "listDeletedBrands">,
  brandIds: readonly string[],
): Promise<Set<string>> {
  try {
    const { brand_ids } = await accounts.listDeletedBrands({ brand_ids: [...brandIds] }, newCallContext(CALL_MS));
    return new Set(brand_ids);
  } catch (error) {
    // An accounts process of release 0.2.0, which deletes no brands.
    if (isUnimplemented(error)) return new Set();
    throw error;
  }
}
