import type { Database } from "@brand-records/postgres";
import type { UrlRules } from "./domain/receiver-url.ts";
import type { SecretKeys } from "./domain/secret-keys.ts";
import type { Dropping } from "./storage/held-deliveries.ts";

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
  /** How deliveries are removed; in chunks of 10,000 unless set. */
  readonly dropping?: Pick<Dropping, "chunkRows">;
}
