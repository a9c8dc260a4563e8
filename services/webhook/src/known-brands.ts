import { AppError } from "@brand-records/errors";
import type { Database } from "@brand-records/postgres";
import type { AccountsServiceService } from "@brand-records/proto/accounts/v1";
import { newCallContext, type CallContext, type RpcClient } from "@brand-records/rpc";
import { isBrandOpen, rememberBrand } from "./storage/brands.ts";

const CALL_MS = 5_000;
/** Calls at a time. */
const CALLS_MAX = 20;

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

  /**
   * Asks accounts about brands, and adds those that exist to the table, also if it rejects.
   *
   * @param timeoutMs for all of them
   * @throws AppError like isKnown
   */
  async lookUp(brandIds: readonly string[], timeoutMs = CALL_MS): Promise<LookedUp> {
    const context = newCallContext(timeoutMs);
    const existing = new Set<string>();
    const lookUpOne = async (id: string): Promise<void> => {
      if (!(await this.#exists(id, context))) return;
      await rememberBrand(this.#db, id);
      existing.add(id);
    };
    // One after another, a hundred brands that do not exist took longer than all may, at each repeat.
    for (let at = 0; at < brandIds.length; at += CALLS_MAX) await Promise.all(brandIds.slice(at, at + CALLS_MAX).map(lookUpOne));
    const missing = brandIds.filter((id) => !existing.has(id));
    return { existing, deleted: missing.length === 0 ? new Set() : await deletedAmong(this.#accounts, missing, context) };
  }

  async #exists(brandId: string, context: CallContext): Promise<boolean> {
    try {
      await this.#accounts.getBrand({ brand_id: brandId }, context);
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
  context = newCallContext(CALL_MS),
): Promise<Set<string>> {
  const { brand_ids } = await accounts.listDeletedBrands({ brand_ids: [...brandIds] }, context);
  return new Set(brand_ids);
}
