import type { KeyedMutex } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";

/** What the use cases work with. */
export interface Parts {
  readonly db: Database;
  readonly brandMutex: KeyedMutex;
  /** Pending plans a brand may have. */
  readonly pendingMax: number;
}
