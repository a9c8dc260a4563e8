import { AppError } from "@brand-records/errors";
import { withTimeout } from "@brand-records/lifecycle";
import { openDatabaseSession, postgresFailureOf, type Database } from "@brand-records/postgres";

const PROBE_TIMEOUT_MS = 1_000;

interface PoolSettings {
  readonly DATABASE_URL: string;
  readonly DATABASE_CONNECTIONS_MAX: number;
}

/**
 * Whether the database responds within a probe's time. While requests hold every connection of the pool, the probe opens one of its own:
 * a process that is not ready for being busy would leave its work to others that are as busy.
 */
export async function isReachable(db: Database, settings: PoolSettings): Promise<boolean> {
  const isBusy = db.state().used >= settings.DATABASE_CONNECTIONS_MAX;
  const probe = (isBusy ? connects(settings) : db.query("select 1")).then(
    () => true,
    () => false,
  );
  return (await withTimeout(probe, PROBE_TIMEOUT_MS)) === true;
}

/** A server that refuses a connection for having too many has responded. */
async function connects({ DATABASE_URL }: PoolSettings): Promise<void> {
  try {
    const session = await openDatabaseSession({
      url: DATABASE_URL,
      applicationName: "probe",
      idleTimeoutMs: PROBE_TIMEOUT_MS,
      keepalive: false,
    });
    await session.stop();
  } catch (error) {
    if (!(error instanceof AppError) || postgresFailureOf(error.cause) !== "resources") throw error;
  }
}
