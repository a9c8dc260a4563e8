import type { Database } from "@brand-records/postgres";
import type { KeyedMutex } from "./domain/keyed-mutex.ts";

/** What the use cases work with. */
export interface Parts {
  readonly db: Database;
  readonly turns: KeyedMutex;
  /** Pending plans a brand may have. */
  readonly pendingMax: number;
}
