import { AppError } from "@brand-records/errors";
import { SERVICE_NAMES } from "../connection/endpoints.ts";
import { CommandFailure } from "../failure.ts";
import type { Session } from "../session.ts";

const HEALTH_MS = 5_000;

/**
 * Looks whether every service that a deletion calls is there: begun without one of them, it could not be undone, and not go on.
 *
 * @param undone such as `Nothing was deleted.`, before the reason
 */
export async function requireServing(session: Session, undone: string): Promise<void> {
  const { checkRpcHealth } = await import("../doctor/rpc-health.ts");
  for (const name of SERVICE_NAMES) {
    try {
      await checkRpcHealth(session.endpoints.get(name), session.endpoints.tls(), HEALTH_MS, session.terminal.interrupted);
    } catch (error) {
      if (error instanceof CommandFailure)
        throw new CommandFailure(error.code, `${undone} ${error.message}`, {
          cause: error,
          ...(error.hint !== undefined && { hint: error.hint }),
        });
      if (error instanceof AppError) throw new CommandFailure(error.kind, `${undone} ${error.message}`, { cause: error });
      throw error;
    }
  }
}
