import { AppError } from "@brand-records/errors";

const PAUSE_MS = 600_000;

/** Returns a task that does not try `work` for ten minutes after a lock or statement timed out: it rejects with the same error meanwhile. */
export function pausedAfterTimeout<T>(work: () => Promise<T>, now: () => number = Date.now): () => Promise<T> {
  let refused: { readonly error: AppError; readonly until: number } | undefined;
  return async () => {
    if (refused !== undefined && now() < refused.until) throw refused.error;
    try {
      return await work();
    } catch (error) {
      if (error instanceof AppError && error.kind === "timeout") refused = { error, until: now() + PAUSE_MS };
      throw error;
    }
  };
}
