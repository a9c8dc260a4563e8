import { fromPostgresError, type Database } from "@brand-records/postgres";

/**
 * Returns a database whose next transaction commits and fails all the same, as when the connection is lost between a commit and its
 * answer. Later transactions end as they do.
 */
export function losingCommitAnswer(db: Database): Database {
  let isLost = false;
  return {
    ...db,
    async transaction(work, options) {
      const result = await db.transaction(work, options);
      if (isLost) return result;
      isLost = true;
      throw fromPostgresError(new Error("Connection terminated unexpectedly"));
    },
  };
}
