import { AppError } from "@brand-records/errors";
import type { DeadLetters } from "@brand-records/event-log";
import { openDatabaseSession } from "@brand-records/postgres";

/** A replay that takes longer hangs: the server ends its session, and another may start. */
const REPLAY_MS_MAX = 600_000;

/**
 * Allows one replay or removal of dead letters at a time, over all processes: two replays would publish each letter twice, and a replay
 * during a removal would miss what the removal writes again.
 */
export function withExclusiveReplay(deadLetters: DeadLetters, databaseUrl: string): DeadLetters {
  const exclusively = async <T>(work: () => Promise<T>): Promise<T> => {
    const session = await openDatabaseSession({
      url: databaseUrl,
      applicationName: "webhook replay of dead letters",
      idleTimeoutMs: REPLAY_MS_MAX,
      keepalive: false,
    });
    try {
      const [row] = await session.query<{ locked: boolean }>(
        "select pg_try_advisory_lock(hashtext('brand-records dead letters')) as locked",
      );
      if (row?.locked !== true)
        throw new AppError("request_conflict", "The dead letters are already being replayed. List them again when that is done.");
      return await work();
    } finally {
      await session.stop().catch(() => {});
    }
  };
  return {
    put: (letters) => deadLetters.put(letters),
    list: (limit) => deadLetters.list(limit),
    count: () => deadLetters.count(),
    replay: () => exclusively(() => deadLetters.replay()),
    remove: (isRemoved) => exclusively(() => deadLetters.remove(isRemoved)),
  };
}
