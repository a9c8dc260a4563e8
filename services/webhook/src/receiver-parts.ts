import type { Database } from "@brand-records/postgres";
import type { SecretKeys } from "./domain/secret-keys.ts";

/** Which brands there are: accounts knows. */
export interface KnownBrands {
  /** @throws AppError `unavailable` if nobody can be asked */
  isKnown(brandId: string): Promise<boolean>;
}

/** What the use cases of receivers work with. */
export interface ReceiverParts {
  readonly db: Database;
  readonly keys: SecretKeys;
  /** Ports a receiver's URL may name beside 443. */
  readonly ports: ReadonlySet<number>;
  readonly brands: KnownBrands;
}
