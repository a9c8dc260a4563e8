import { AppError } from "@brand-records/errors";
import { withTimeout } from "@brand-records/lifecycle";
import { openDatabaseSession, postgresFailureOf, type Database } from "@brand-records/postgres";

const PROBE_TIMEOUT_MS = 1_000;

/**
 * Whether the database responds within a probe's time. While requests use every open connection of the pool, the probe opens one of its own:
 * a process that is not ready for being busy would leave its work to others that are as busy.
 */
export async function isReachable(db: Database, url: string, timeoutMs = PROBE_TIMEOUT_MS): Promise<boolean> {
  const { idle, used } = db.state();
  const probe = (idle === 0 && used > 0 ? connect(url) : db.query("select 1")).then(
    () => true,
    () => false,
  );
  return (await withTimeout(probe, timeoutMs)) === true;
}

/** A server that refuses a connection for having too many has responded: the probe needs none kept for it. */
async function connect(url: string): Promise<void> {
  try {
    const session = await openDatabaseSession({
      url,
      applicationName: "probe",
      idleTimeoutMs: PROBE_TIMEOUT_MS,
      keepalive: false,
    });
    await session.stop();
  } catch (error) {
    if (!(error instanceof AppError) || postgresFailureOf(error.cause) !== "resources") throw error;
  }
}
