import { explainUnreachable } from "../connection/explain-unreachable.ts";
import { CommandFailure, Interrupted } from "../failure.ts";
import type { Session } from "../session.ts";
import type { ImportResult, ImportTarget } from "./import-records.ts";
import type { InputLine } from "./read-lines.ts";

/**
 * Imports as part of a command: Ctrl-C cancels it, and every failure says whether anything was imported.
 *
 * @throws Interrupted after Ctrl-C, CommandFailure otherwise
 */
export async function importFrom(
  session: Session,
  target: Omit<ImportTarget, "signal">,
  lines: AsyncIterable<InputLine> | Iterable<InputLine>,
  onProgress: (progress: { readonly lines: number }) => void,
): Promise<ImportResult> {
  const { importRecords, ImportBroken } = await import("./import-records.ts");
  const { client, endpoint, tls } = await session.imports();
  const { interrupted } = session.terminal;
  try {
    return await importRecords(client, { ...target, signal: interrupted }, lines, onProgress);
  } catch (error) {
    if (!(error instanceof ImportBroken)) throw error;
    if (interrupted.aborted) throw new Interrupted(`Interrupted. ${error.outcome}`);
    const explained = explainUnreachable(error.reason, endpoint, tls);
    if (!(explained instanceof CommandFailure)) throw new CommandFailure(error.reason.kind, error.message, { cause: error });
    throw new CommandFailure(explained.code, `${explained.message} ${error.outcome}`, { cause: error, hint: explained.hint });
  }
}
