import type { KeyedMutex } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import type { Memberships } from "@brand-records/service-runtime";

/** What the handlers and use cases work with. */
export interface PlansDependencies {
  readonly db: Database;
  readonly memberships: Memberships;
  /** Keyed by brand: requests of one brand take one database connection at a time. */
  readonly brandMutex: KeyedMutex;
  /** Pending plans a brand may have. */
  readonly pendingMax: number;
}
