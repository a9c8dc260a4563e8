import type { Database } from "@brand-records/postgres";
import type { Turns } from "./domain/turns.ts";

/** What the use cases work with. */
export interface Parts {
  readonly db: Database;
  readonly turns: Turns;
  /** Pending plans a brand may have. */
  readonly pendingMax: number;
}
