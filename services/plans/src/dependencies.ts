import type { Clock, KeyedMutex } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import type { AuditOutbox } from "@brand-records/service-runtime";

export interface PreparedPlan {
  readonly brand_id: string;
  readonly plan_id: string;
}

/** What the handlers and use cases work with. */
export interface PlansDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly audit: Pick<AuditOutbox, "record" | "erase">;
  /** Keyed by brand: requests of one brand take one database connection at a time. */
  readonly brandMutex: KeyedMutex;
  /** Pending plans a brand may have. */
  readonly pendingMax: number;
  /** Called after a request whose plan is new, and for each repetition while it is: the first call may be lost with its process. */
  readonly onPrepared?: (plan: PreparedPlan) => void;
}
