import { repeat, withStopTimeout } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import type { Maintenance } from "@brand-records/service-runtime";
import { FAILURES_KEEP_DAYS, FAILURES_PER_BRAND_MAX } from "./domain/failed-requests.ts";
import type { SessionLimits } from "./domain/session.ts";
import { deleteOldAuditEntries } from "./storage/audit-entries.ts";
import { deleteFailuresBeyond, deleteOldFailures, walkFailuresBeyond } from "./storage/failed-requests.ts";
import { deleteExpiredIdTokens } from "./storage/identities.ts";
import { deleteOldRequests } from "./storage/recent-requests.ts";
import { deleteOldMails } from "./storage/mails.ts";
import { deleteOldSessions } from "./storage/sessions.ts";
import { deleteExpiredLinks } from "./storage/sign-in-links.ts";
import { deleteOldBatches, deleteOldClientUsage, deleteOldUsage } from "./storage/usage.ts";

const EVERY_MS = 60_000;
/** A task may be cut off anywhere. */
const STOP_MS = 2_000;
/** Rows deleted by one statement, which locks them until it ends: 10 ms. */
const BATCH_ROWS = 1_000;
/** Brands of which it looks each minute whether they keep too many failed requests: up to 10,000 entries of an index each. */
const FAILURES_BRANDS_AT_ONCE = 20;
/** Age until which an expired link is refused as expired, afterwards as unknown. */
const LINK_KEEP_DAYS = 7;
/** Time for which a gateway may repeat a batch of counts. */
const BATCH_KEEP_DAYS = 2;
/** A notice is tried, and known again, for one day; only what no process sends becomes older. */
const MAIL_KEEP_DAYS = 2;

export interface JanitorOptions {
  readonly db: Database;
  readonly maintenance: Maintenance;
  readonly sessionLimits: SessionLimits;
  readonly auditKeepDays: number;
  readonly usageKeepDays: number;
  readonly requestsKeepHours: number;
}

/** Deletes what is kept no longer, once a minute. Every task is safe to run in any number of processes at the same time. */
export function startJanitor({ db, maintenance, sessionLimits, ...keep }: JanitorOptions): { stop(): Promise<void> } {
  const tasks: Record<string, (limit: number) => Promise<number>> = {
    sessions: (limit) => deleteOldSessions(db, sessionLimits.maxSeconds, limit),
    "sign-in links": (limit) => deleteExpiredLinks(db, LINK_KEEP_DAYS, limit),
    "used ID tokens": (limit) => deleteExpiredIdTokens(db, 0, limit),
    "audit entries": (limit) => deleteOldAuditEntries(db, keep.auditKeepDays, limit),
    usage: (limit) => deleteOldUsage(db, keep.usageKeepDays, limit),
    "usage by client": (limit) => deleteOldClientUsage(db, keep.usageKeepDays, limit),
    mails: (limit) => deleteOldMails(db, MAIL_KEEP_DAYS, limit),
    "failed requests": (limit) => deleteOldFailures(db, FAILURES_KEEP_DAYS, limit),
    "failed requests beyond the cap": (limit) => deleteFailuresBeyond(db, FAILURES_PER_BRAND_MAX, limit),
    "failed requests counted late": walkFailuresBeyond(db, FAILURES_PER_BRAND_MAX, FAILURES_BRANDS_AT_ONCE),
    "recent requests": (limit) => deleteOldRequests(db, keep.requestsKeepHours, limit),
    "usage batches": (limit) => deleteOldBatches(db, BATCH_KEEP_DAYS, limit),
  };
  let stopping = false;
  const runTasks = async (): Promise<void> => {
    for (const [task, run] of Object.entries(tasks)) {
      await maintenance.run(task, async () => {
        while (!stopping && (await run(BATCH_ROWS)) === BATCH_ROWS);
      });
    }
  };
  const running = withStopTimeout(repeat(runTasks, EVERY_MS), STOP_MS);
  return {
    stop() {
      stopping = true;
      return running.stop();
    },
  };
}
