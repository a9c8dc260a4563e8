import { randomUUID } from "node:crypto";
import { AppError, ERROR_KINDS } from "@brand-records/errors";
import type { AppendAuditRequest, FinishAuditRequest } from "@brand-records/proto/accounts/v1";
import type { AuditClient } from "../connection/clients.ts";
import { CommandFailure, required } from "../failure.ts";

/** A change that a command is about to make, as the operator. */
export type PlannedChange = Pick<AppendAuditRequest, "brand_id" | "action" | "subject_id" | "fields" | "role">;

type Result = Pick<FinishAuditRequest, "outcome" | "error_kind" | "subject_id">;

/** Writes each change of a command into the brand's audit log, which accounts keeps. */
export class AuditLog {
  readonly #connect: () => Promise<AuditClient>;
  readonly #onUnfinished: () => void;

  /** @param onUnfinished called if a change was made, or refused, and its outcome cannot be written */
  constructor(connect: () => Promise<AuditClient>, onUnfinished: () => void) {
    this.#connect = connect;
    this.#onUnfinished = onUnfinished;
  }

  /**
   * Makes a change between two calls: one writes the entry, one the outcome.
   *
   * @param make gets the request id of the entry
   * @param idOf returns the id of what was created
   * @throws CommandFailure if the entry cannot be written, AppError `not_found` for a deleted brand; nothing is changed then
   */
  async around<T>(change: PlannedChange, make: (requestId: string) => Promise<T>, idOf?: (result: T) => string | undefined): Promise<T> {
    const requestId = randomUUID();
    const entryId = await this.#append({ ...change, request_id: requestId });
    const finish = (result: Result): Promise<void> => this.#finish({ brand_id: change.brand_id, entry_id: entryId, ...result });
    let made: T;
    try {
      made = await make(requestId);
    } catch (error) {
      await finish(resultOf(error));
      throw error;
    }
    await finish({ outcome: "done", subject_id: idOf?.(made) });
    return made;
  }

  async #append(request: AppendAuditRequest): Promise<string> {
    try {
      const { entry } = await (await this.#connect()).appendAudit(request);
      return required(entry, "entry").id;
    } catch (error) {
      if (!(error instanceof CommandFailure || error instanceof AppError)) throw error;
      // The log is fine; the brand was deleted.
      if (error instanceof AppError && error.kind === "not_found") throw error;
      const [code, hint] = error instanceof CommandFailure ? [error.code, error.hint] : [error.kind, undefined];
      throw new CommandFailure(code, `Nothing was changed, because the audit log at accounts cannot be written. ${error.message}`, {
        cause: error,
        hint,
      });
    }
  }

  /** The change is made or refused by now, and its own result matters more: a key is shown only once. */
  async #finish(request: FinishAuditRequest): Promise<void> {
    try {
      await (await this.#connect()).finishAudit(request);
    } catch {
      this.#onUnfinished();
    }
  }
}

/** Refused, or unknown: the service may have made the change before the connection broke or Ctrl-C. */
function resultOf(error: unknown): Result {
  if (!(error instanceof AppError)) return { outcome: "unknown", error_kind: error instanceof CommandFailure ? error.code : "interrupted" };
  const isRefusal = ERROR_KINDS[error.kind].http < 500 && error.kind !== "request_timeout";
  return { outcome: isRefusal ? "failed" : "unknown", error_kind: error.kind };
}
