import type { Database } from "@brand-records/postgres";
import type { AccountsServiceService } from "@brand-records/proto/accounts/v1";
import { newCallContext, type RpcClient } from "@brand-records/rpc";
import { knownAmong, rememberBrand } from "./storage/brands.ts";

const GET_BRAND_MS = 5_000;

/**
 * Knows which brands exist. Brands are never deleted, so accounts is called once for each: the table remembers the result
 * for all processes, memory for this one.
 */
export class KnownBrands {
  readonly #db: Database;
  readonly #accounts: RpcClient<AccountsServiceService>;
  readonly #known = new Set<string>();

  constructor(db: Database, accounts: RpcClient<AccountsServiceService>) {
    this.#db = db;
    this.#accounts = accounts;
  }

  /** @throws AppError `unavailable`, `timeout` if the brand is not known yet and accounts cannot be reached */
  async isKnown(brandId: string): Promise<boolean> {
    return (await this.unknownAmong([brandId])).size === 0;
  }

  /** @throws AppError like isKnown */
  async unknownAmong(brandIds: readonly string[]): Promise<Set<string>> {
    const unknown = new Set(brandIds.filter((id) => !this.#known.has(id)));
    if (unknown.size === 0) return unknown;
    for (const id of await knownAmong(this.#db, [...unknown])) this.#remember(id, unknown);
    for (const id of unknown) {
      if (!(await this.#exists(id))) continue;
      await rememberBrand(this.#db, id);
      this.#remember(id, unknown);
    }
    return unknown;
  }

  #remember(id: string, unknown: Set<string>): void {
    this.#known.add(id);
    unknown.delete(id);
  }

  async #exists(brandId: string): Promise<boolean> {
    try {
      await this.#accounts.getBrand({ brand_id: brandId }, newCallContext(GET_BRAND_MS));
      return true;
    } catch (error) {
      if (error instanceof Error && "kind" in error && error.kind === "not_found") return false;
      throw error;
    }
  }
}
