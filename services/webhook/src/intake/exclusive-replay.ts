import { AppError } from "@brand-records/errors";
import type { DeadLetters } from "@brand-records/event-log";
import { openSession } from "@brand-records/postgres";

/** A replay that takes longer hangs: the server ends its session, and another may start. */
const REPLAY_MS_MAX = 600_000;

/** Allows one replay of dead letters at a time, over all processes: two would publish each letter twice. */
export function withExclusiveReplay(deadLetters: DeadLetters, databaseUrl: string): DeadLetters {
  return {
    put: (letters) => deadLetters.put(letters),
    list: (limit) => deadLetters.list(limit),
    async replay() {
      const session = await openSession({
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
        return await deadLetters.replay();
      } finally {
        await session.stop().catch(() => {});
      }
    },
  };
}
