import type { Database } from "@brand-records/postgres";
import type { UrlRules } from "./domain/receiver-url.ts";
import type { SecretKeys } from "./domain/secret-keys.ts";

/** Which brands there are: accounts knows. */
export interface KnownBrands {
  /** @throws AppError `unavailable` if nobody can be asked */
  isKnown(brandId: string): Promise<boolean>;
}

/** What the use cases of receivers work with. */
export interface ReceiverParts extends UrlRules {
  readonly db: Database;
  readonly keys: SecretKeys;
  readonly brands: KnownBrands;
}
